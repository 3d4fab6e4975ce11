# The same program by Make.
CUDA_PATH ?= /opt/rocm
NVCC      := $(CUDA_PATH)/bin/hipcc
ARCH      ?= native
NVCCFLAGS  = -O3 -std=c++17 --offload-arch=$(ARCH) -fgpu-rdc \
             -Wall -fPIC
LIBS       = -L$(CUDA_PATH)/lib -lhipfft -lamdhip64 -lm
OBJECTS    = $(patsubst %.cu,%.o,$(wildcard src/*.cu))

waves: $(OBJECTS)
	$(NVCC) $(NVCCFLAGS) -o $@ $^ $(LIBS)

%.o: %.cu
	$(NVCC) $(NVCCFLAGS) -I$(CUDA_PATH)/include -fgpu-rdc -c -o $@ $<
