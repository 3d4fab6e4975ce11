"""Makefiles: what their words become, and that all other bytes stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port.build import functions, make, make_lines
from cu2port.build.convert import convert, facts
from cu2port.build.kinds import kind_of
from cu2port.build.options import Word
from cu2port.build.table import table
from cu2port.build.words import Asked
from cu2port.core.model import Outcome, Result

SAID = "echo Cuda compilation tools, release 12.6, V12.6.20"


def port(text: str, **asked: object) -> Result:
    data = text.encode("latin-1")
    given_: dict[str, object] = {"defined": facts("make", data).defines, **asked}
    return convert(data, "Makefile", Asked("make", **given_))  # type: ignore[arg-type]  # fields by name


def ported(text: str, **asked: object) -> str:
    return port(text, **asked).output.decode("latin-1")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("NVCC := $(CUDA_PATH)/bin/nvcc -ccbin $(CXX)\n", "NVCC := $(ROCM_PATH)/bin/hipcc\n"),
        ("a: a.o\n\t@nvcc -G -o $@ $<  # by nvcc\n", "a: a.o\n\t@hipcc -g -o $@ $<  # by nvcc\n"),
        ("nvcc: a\n", "nvcc: a\n"),
        (  # nvcc takes the value of any option as a word of its own, or behind `=`, and lists
            "F = -std c++14 --optimize 2 --library m --include-path $(A),b -m 64 -x=cu\n"
            "a: a.cu\n\tnvcc $(F) -O 3 -t4 -o $@ $<\n",
            "F = -std=c++17 -O2 -lm -I$(A) -Ib -xhip\na: a.cu\n\thipcc $(F) -O3 -o $@ $<\n",
        ),
        (
            "a.o: a.cu\n\tnvcc -I=inc -isystem=$(E) -D=N=1 -L=lib -l=m -MF=a.d -o=$@ -c $<\nb: b.c\n\tgcc -I=inc $<\n",
            "a.o: a.cu\n\thipcc -Iinc -isystem $(E) -DN=1 -Llib -lm -MF a.d -o $@ -c $<\nb: b.c\n\tgcc -I=inc $<\n",
        ),
        ("C = -O -g\na: a.c\n\tgcc $(C) -O -m 64 -o $@ $<\n", "C = -O -g\na: a.c\n\tgcc $(C) -O -m 64 -o $@ $<\n"),
        (
            "T := $(shell dirname $$(command -v nvcc))/..\nL = -L$(T)/lib64 -I$(T)/include\n",
            "T := $(shell dirname $$(command -v hipcc))/..\nL = -L$(T)/lib -I$(T)/include -D__HIP_PLATFORM_AMD__\n",
        ),
        (  # the folder above nvcc's is CUDA's, and g++ needs the platform beside its headers
            "C = nvcc\nT = $(subst /bin/,,$(dir $(shell which $(C))))\nF = -I${T}/include\na:\n\tg++ $(F)\n",
            "C = hipcc\nT = $(subst /bin/,,$(dir $(shell which $(C))))\n"
            "F = -I${T}/include -D__HIP_PLATFORM_AMD__\na:\n\tg++ $(F)\n",
        ),
        (
            "N := $(shell which nvcc)\nT := $(if $(N),$(realpath $(dir $(N))/..))\nL = -L$(T)/lib64\n",
            "N := $(shell which hipcc)\nT := $(if $(N),$(realpath $(dir $(N))/..))\nL = -L$(T)/lib\n",
        ),
        (
            "T := $(subst /bin/nvcc,,$(shell which nvcc))\nL = -L$(T)/lib64\n",
            "T := $(subst /bin/hipcc,,$(shell which hipcc))\nL = -L$(T)/lib\n",
        ),
        (
            "T := $(patsubst %/bin/nvcc,%,$(shell which nvcc))\nL = -L$(T)/lib64\n",
            "T := $(patsubst %/bin/hipcc,%,$(shell which hipcc))\nL = -L$(T)/lib\n",
        ),
        (
            "T = $(patsubst %bin/nvcc,%,$(shell which nvcc))\nL = -L$(T)/lib64\n",
            "T = $(patsubst %bin/hipcc,%,$(shell which hipcc))\nL = -L$(T)/lib\n",
        ),
        (  # a path that may have blanks is in quotes
            'C = "$(shell which nvcc)"\nV = "$(shell nvcc -V)"\nF = -O3 -G\na: a.cu\n\t$(C) $(F) "by nvcc" $<\n',
            'C = "$(shell which hipcc)"\nV = "$(shell hipcc -V)"\nF = -O3 -g\na: a.cu\n\t$(C) $(F) "by nvcc" $<\n',
        ),
        (  # libraries by their files, in CUDA's folder and beside nvcc
            'C = nvcc\nR = "$(shell dirname $(C))/../lib64/libcudart_static.a"\nL = /usr/local/cuda/lib/libcufft.so\n',
            'C = hipcc\nR = "$(shell dirname $(C))/../lib/libamdhip64.so"\nL = /opt/rocm/lib/libhipfft.so\n',
        ),
        (
            "X = $(D)/libcudart.so.12 $(D)/libcu.a lib/libmine.a\n",
            "X = $(D)/libcudart.so.12 $(D)/libcu.a lib/libmine.a\n",
        ),
        (  # clang, where it compiles CUDA
            "a: a.cu\n\tclang++ -x cuda a.cu --cuda-gpu-arch=sm_50 --cuda-path=/c -o a\n",
            "a: a.cu\n\tclang++ -x hip a.cu --offload-arch=native --cuda-path=/c -o a\n",
        ),
        (  # an option in quotes; no compiler of the host takes NVIDIA's architectures
            'CFLAGS="-arch=sm_30"\nC = nvcc\na: a.cu\n\t$(C) $(CFLAGS) \'-lineinfo\' "--ptxas-options=-v" -c $<\n',
            "CFLAGS=--offload-arch=native\nC = hipcc\na: a.cu\n\t$(C) $(CFLAGS) '-gline-tables-only' -c $<\n",
        ),
        ("N = nvcc\nT = $(dir $(N))/lib64\nL = -L$(T)/lib64\n", "N = hipcc\nT = $(dir $(N))/lib64\nL = -L$(T)/lib64\n"),
        (
            "include config.mk\na: a.cu\n\t$(NVCC) $(F) -dc $<\n\t@${CUDA_NVCC} -ptx $<\n\t$(CXX) -G $<\n",
            "include config.mk\na: a.cu\n\t$(NVCC) $(F) -fgpu-rdc -c $<\n\t@${CUDA_NVCC} --genco $<\n\t$(CXX) -G $<\n",
        ),
        (  # by what uses the variables, whatever they are called; what the host's compiler uses too is left alone
            'OPT = -G\nBOTH = -G\nF = -restrict $(OPT) $(BOTH)\nH = -G\nF += -Xcompiler "$(H)"\n'
            "a: a.cu\n\tnvcc $(F) $<\nb: b.c\n\tcc $(BOTH) $<\n",
            "OPT = -g\nBOTH = -G\nF = $(OPT) $(BOTH)\nH = -G\nF += $(H)\n"
            "a: a.cu\n\thipcc $(F) $<\nb: b.c\n\tcc $(BOTH) $<\n",
        ),
        (  # Intel's options of the same names have no value
            "I = -prec-div -prec-sqrt -ftz\nF = -ftz=true -prec-div false\na: a.cu\n\tnvcc $<\n",
            "I = -prec-div -prec-sqrt -ftz\n"
            "F = -fgpu-flush-denormals-to-zero -fno-hip-fp32-correctly-rounded-divide-sqrt\na: a.cu\n\thipcc $<\n",
        ),
        ("LIBS=-lcudart -lcublas \\\n  -lcudadevrt -lm\n", "LIBS=-lamdhip64 -lhipblas \\\n   -lm\n"),
        ("INC = -I/usr/local/cuda-11.8/include\n", "INC = -I/opt/rocm/include -D__HIP_PLATFORM_AMD__\n"),
        (  # a variable says the version
            "a:\n\tg++ -I/usr/local/cuda-$(V)/targets/x86_64-linux/include/ a.cpp -L/usr/local/cuda-${V}/lib64\n",
            "a:\n\tg++ -I/opt/rocm/include/ -D__HIP_PLATFORM_AMD__ a.cpp -L/opt/rocm/lib\n",
        ),
        (
            "INC = /usr/local/cuda/include\nF = -I. -I$(INC) -Wall\na: $(INC)/x.h\n",
            "INC = /opt/rocm/include\nF = -I. -I$(INC) -D__HIP_PLATFORM_AMD__ -Wall\na: $(INC)/x.h\n",
        ),
        (
            "D = a \\\n  /usr/local/cuda/include\nD += /usr/local/cuda-12/include\nD := $(foreach d,$(D),-I$(d))\n",
            "D = a \\\n  /opt/rocm/include\nD += /opt/rocm/include\n"
            "D := $(foreach d,$(D),-I$(d)) -D__HIP_PLATFORM_AMD__\n",
        ),
        (
            "D = /usr/local/cuda/include\nF = $(addprefix -I, $(D)) $(D:%=-I%) $(patsubst %,-I%,$(D))\n",
            "D = /opt/rocm/include\nF = $(addprefix -I, $(D)) -D__HIP_PLATFORM_AMD__ $(D:%=-I%) -D__HIP_PLATFORM_AMD__"
            " $(patsubst %,-I%,$(D)) -D__HIP_PLATFORM_AMD__\n",
        ),
        ("INC = -I/usr/local/cudax/include\n", "INC = -I/usr/local/cudax/include\n"),
        (  # where Debian and Arch have it
            "CUDA_HOME = /opt/cuda\nL = -L/usr/lib/cuda/lib64 -L$(CUDA_HOME)/lib64 -L/opt/cudas\n",
            "CUDA_HOME = /opt/rocm\nL = -L/opt/rocm/lib -L$(CUDA_HOME)/lib -L/opt/cudas\n",
        ),
        (  # a compiler of another name hands them to nvcc
            "F = -e --nvcc-options -Xptxas=-v,-arch=sm_30 -c\na:\n\tcapsmc $(F) gcc a.c\n\tnvcc -Xptxas=-v b.cu\n",
            "F = -e --nvcc-options -Xptxas=-v,-arch=sm_30 -c\na:\n\tcapsmc $(F) gcc a.c\n\thipcc b.cu\n",
        ),
        (  # the slash stands where it is used
            "D = usr/local/cuda-9.1\na:\n\t/$(D)/bin/nvcc a.cu -I /$(D)/include -L/$(D)/lib64\n",
            "D = opt/rocm\na:\n\t/$(D)/bin/hipcc a.cu -I /$(D)/include -L/$(D)/lib\n",
        ),
        ("D = x/usr/local/cudas usr/local/cudas\n", "D = x/usr/local/cudas usr/local/cudas\n"),
        # a path that no option is before, and that another file uses: maybe what a target depends on
        ("CUDA = /usr/local/cuda\nHEADERS += $(CUDA)/include\n", "CUDA = /opt/rocm\nHEADERS += $(CUDA)/include\n"),
        (
            "F = -isystem /usr/local/cuda/include -O2\n",
            "F = -isystem /opt/rocm/include -D__HIP_PLATFORM_AMD__ -O2\n",
        ),
        ("CUDA_DIR = /usr/local/cuda/3.0/x\n", "CUDA_DIR = /usr/local/cuda/3.0/x\n"),
        ("CXX = clang++ -fsycl\nL = -lcudart\n", "CXX = clang++ -fsycl\nL = -lcudart\n"),
        (
            "C = nvcc\n%.o: %.cu\n\t$(C) -dc $<\np: a.o\n\t@$(Q)$(C) -o $@ $^\n"
            "q: a.o\n\tnvcc $(OBJS) -o q\nr: a.cu\n\tnvcc a.cu\n",
            "C = hipcc\n%.o: %.cu\n\t$(C) -fgpu-rdc -c $<\np: a.o\n\t@$(Q)$(C) -fgpu-rdc --hip-link -o $@ $^\n"
            "q: a.o\n\thipcc -fgpu-rdc --hip-link $(OBJS) -o q\nr: a.cu\n\thipcc a.cu\n",
        ),
        (
            "F = -rdc=true\nG = $(F) -g\na.o: a.cu\n\tnvcc -dc a.cu\np: a.o\n\tnvcc $(G) a.o -o p\n\tg++ b.o\n",
            "F = -fgpu-rdc\nG = $(F) -g\na.o: a.cu\n\thipcc -fgpu-rdc -c a.cu\n"
            "p: a.o\n\thipcc $(G) a.o -o p\n\tg++ b.o\n",
        ),
        ("p: a.o\n\tnvcc a.o -o p\n", "p: a.o\n\thipcc a.o -o p\n"),  # nothing is compiled apart
        ("L = -L/usr/lib64 -L/usr/local/cuda/lib64\n", "L = -L/usr/lib64 -L/opt/rocm/lib\n"),
        (  # a variable says which folder of CUDA's has the libraries
            "D = /usr/local/cuda\nX=lib64\nL = -L$(D)/$(X) -Wl,-rpath,$(D)/$(X) -L$(CUDA_HOME)/lib${S} -L$(D)/x/$(X)\n",
            "D = /opt/rocm\nX=lib64\nL = -L$(D)/lib -Wl,-rpath,$(D)/lib -L$(ROCM_PATH)/lib -L$(D)/x/$(X)\n",
        ),
        ("L = -L/usr/local/cuda/lib$(S) -L/usr/local/cuda/$(X)\n", "L = -L/opt/rocm/lib -L/opt/rocm/lib\n"),
        ("D = /usr/local/cuda\nP = $(D)/$(X)\nL = -L$(E)/$(X)\n", "D = /opt/rocm\nP = $(D)/$(X)\nL = -L$(E)/$(X)\n"),
        ("D = /usr/local/cuda\nL = -L$(D)/targets/x86_64-linux/lib/stubs\n", "D = /opt/rocm\nL = -L$(D)/lib\n"),
        (
            "NVCC=nvcc\nifeq ($(findstring nvcc,$(NVCC)),nvcc)\nA=$(filter %nvcc,$(NVCC))\nendif\n",
            "NVCC=hipcc\nifeq ($(findstring hipcc,$(NVCC)),hipcc)\nA=$(filter %hipcc,$(NVCC))\nendif\n",
        ),
        (
            "b:\n\tcmake -DCMAKE_CUDA_FLAGS=-G -DCUDA_X=1 . && $(CXX) -DCUDA_X=1 a.cpp\n",
            "b:\n\tcmake -DCMAKE_HIP_FLAGS=-g -DCUDA_X=1 . && $(CXX) -DCUDA_X=1 a.cpp\n",
        ),
        ("L = /usr/local/cuda/lib64/stubs/libcuda.so\n", "L = /opt/rocm/lib/libamdhip64.so\n"),
        (  # a name with CUDA in it is no flag of nvcc's where it is a folder
            "CUDA = /usr/local/cuda\nCUDA_INCLUDE = $(CUDA)/include\nF = -I $(CUDA_INCLUDE) -I .\n",
            "CUDA = /opt/rocm\nCUDA_INCLUDE = $(CUDA)/include\nF = -I $(CUDA_INCLUDE) -D__HIP_PLATFORM_AMD__ -I .\n",
        ),
        (  # one that the environment has
            'CFLAGS += -I"$(CUDA_INC_DIR)" -O2\nX = $(CUDA_INC_DIR) -I$(INCLUDE)\n',
            'CFLAGS += -I"$(CUDA_INC_DIR)" -D__HIP_PLATFORM_AMD__ -O2\nX = $(CUDA_INC_DIR) -I$(INCLUDE)\n',
        ),
        (
            "D = /usr/local/cuda\nI = -I$(D)/targets/sbsa-linux/include\n",
            "D = /opt/rocm\nI = -I$(D)/include -D__HIP_PLATFORM_AMD__\n",
        ),
        (
            "NVCCFLAGS = -gencode arch=compute_60,code=sm_60 -gencode=arch=compute_70,code=sm_70 -O3\n",
            "NVCCFLAGS = --offload-arch=native -O3\n",
        ),
        (
            'C = nvcc\nV = $(shell $(C) -V 2>&1 | grep "V[0-9]")\n'
            "W = $(findstring 11,$(shell /opt/cuda/bin/nvcc --version))\n"
            "all:\n\t$(C) --version\n\tnvcc -V > log\n",
            f'C = hipcc\nV = $(shell {SAID} 2>&1 | grep "V[0-9]")\nW = $(findstring 11,$(shell {SAID}))\n'
            "all:\n\t$(C) --version\n\thipcc --version > log\n",
        ),
        (
            "NVFLAGS += -G -lineinfo\nNV_FLAGS = -G\nENVFLAGS = -G\n",
            "NVFLAGS += -g -gline-tables-only\nNV_FLAGS = -g\nENVFLAGS = -G\n",
        ),
        ("NVCCFLAGS += -rdc=true -Xptxas -v,-dlcm=ca -m64\n", "NVCCFLAGS += -fgpu-rdc -m64\n"),
        ('NVCCFLAGS = -Xcompiler "-Wall -fPIC" -O2\n', "NVCCFLAGS = -Wall -fPIC -O2\n"),
        ('NVCCFLAGS = -Xcompiler "-Wall -std=c99" -O2\n', "NVCCFLAGS = -Wall -O2\n"),
        (  # options of g++ that clang refuses, where nvcc hands them on
            "NVCCFLAGS = -Xcompiler -fipa-pta,-Wall,-ftree-vectorizer-verbose=2 -O2\nCXXFLAGS = -fipa-pta\n",
            "NVCCFLAGS =  -Wall  -O2\nCXXFLAGS = -fipa-pta\n",
        ),
        (  # libraries that a function gives `-l`
            "L := cudart curand m\nL += culibos cublas_static\nM = cufft cuda\nN = cuda\n"
            "F = $(foreach x,$(L),-l$(x)) $(addprefix -l,$(M)) $(addprefix -D,$(N))\n",
            "L := amdhip64 hiprand m\nL += hipblas\nM = hipfft amdhip64\nN = cuda\n"
            "F = $(foreach x,$(L),-l$(x)) $(addprefix -l,$(M)) $(addprefix -D,$(N))\n",
        ),
        (  # one library of each variable; one that names a library of the project's stays
            "R=cudart\nB = cublas\nO = cuda\nx: lib$(O).a\n\tg++ -L. -l$(R) -l${B} -l$(O)\n\tmex -l$(R)\n",
            "R=amdhip64\nB = hipblas\nO = cuda\nx: lib$(O).a\n\tg++ -L. -l$(R) -l${B} -l$(O)\n\tmex -l$(R)\n",
        ),
        (  # levels of warnings that clang does not know
            'NVCCFLAGS = -Xcompiler "-Wstrict-aliasing=3 -Wcast-align=strict" -Xcompiler -g,-Wimplicit-fallthrough=5\n',
            "NVCCFLAGS = -Wstrict-aliasing -Wcast-align -g -Wimplicit-fallthrough\n",
        ),
        (  # flags for a variable that is nvcc, which files that include this one call
            "NVX = nvcc\nNVXFLAGS = -O3 --restrict\nNVX_STD = -std c++20\nNVXS = --restrict\nCXXFLAGS = --restrict\n",
            "NVX = hipcc\nNVXFLAGS = -O3\nNVX_STD = -std=c++20\nNVXS = --restrict\nCXXFLAGS = --restrict\n",
        ),
        (  # only `-Xcompiler` parts a variable's options at commas
            'F = -Wall,-fopenmp -Wl,-z,-x\nG = -a,-b\na:\n\tnvcc -Xcompiler "$(F)" a.cu\n',
            "F = -Wall -fopenmp -Wl,-z,-x\nG = -a,-b\na:\n\thipcc $(F) a.cu\n",
        ),
        (  # the host's compiler gets HIP's headers
            "CUDAF = -I/usr/local/cuda/include\na:\n\tnvcc $(CUDAF) a.cu\nb:\n\tmpicc $(CUDAF) b.c\n",
            "CUDAF = -I/opt/rocm/include -D__HIP_PLATFORM_AMD__\na:\n\thipcc $(CUDAF) a.cu\nb:\n\tmpicc $(CUDAF) b.c\n",
        ),
        (  # what is inexact in the host's code alone stays so
            'NVCCFLAGS = -Xcompiler -ffast-math,-Wall --compiler-options "-Ofast -g" -ffast-mathx\n',
            "NVCCFLAGS = -Xarch_host -ffast-math -Wall -O3 -Xarch_host -ffast-math -g -ffast-mathx\n",
        ),
        ("NVCCFLAGS = -Xcompiler -std=gnu11,-Wall\nCFLAGS = -std=c99\n", "NVCCFLAGS =  -Wall\nCFLAGS = -std=c99\n"),
        (  # with an option that only nvcc takes CFLAGS are no other compiler's
            "CFLAGS=--machine 64 -std=c++11 --expt-extended-lambda\nn = nvcc $(CFLAGS) -c\na:\n\tnvcc $(CFLAGS) a.o\n",
            "CFLAGS= -std=c++17\nn = hipcc $(CFLAGS) -c\na:\n\thipcc $(CFLAGS) a.o\n",
        ),
        (
            "CFLAGS=-std=c++11 --expt-extended-lambda\na:\n\tnvcc $(CFLAGS)\nb:\n\tgcc $(CFLAGS) b.c\n",
            "CFLAGS=-std=c++17\na:\n\thipcc $(CFLAGS)\nb:\n\tgcc $(CFLAGS) b.c\n",
        ),
        (  # nvcc by another name
            "CXX = $(NVCC)\nNVCC = nvcc\nCXXFLAGS = -x cu -dc -G\n%.o: %.C\n\t$(CXX) $(CXXFLAGS) $<\n"
            "p: a.o\n\t$(CXX) a.o\n",
            "CXX = $(NVCC)\nNVCC = hipcc\nCXXFLAGS = -x hip -fgpu-rdc -c -g\n%.o: %.C\n\t$(CXX) $(CXXFLAGS) $<\n"
            "p: a.o\n\t$(CXX) -fgpu-rdc --hip-link a.o\n",
        ),
        (
            "L := ${MY_NVCC} -g\nV = $(shell $(NVCC) -V)\np: a.o\n\t$(L) -G a.o\n\t$(V) -G\n",
            f"L := ${{MY_NVCC}} -g\nV = $(shell {SAID})\np: a.o\n\t$(L) -g a.o\n\t$(V) -G\n",
        ),
        (  # HIP's libraries need C++17 where a variable is the host compiler's too, or goes through -Xcompiler
            "F=-O3 -std=c++11 -maes\nG=$(F)\na:\n\tnvcc $(G)\nb:\n\tg++ $(F) b.cpp\n",
            "F=-O3 -std=c++17 -maes\nG=$(F)\na:\n\thipcc $(G)\nb:\n\tg++ $(F) b.cpp\n",
        ),
        (
            "CFLAGS=-std=c++11\nF=-std=c++11\na:\n\tnvcc -Xcompiler $(CFLAGS)\nb:\n\tg++ $(F) b.cpp\n",
            "CFLAGS=-std=c++17\nF=-std=c++11\na:\n\thipcc $(CFLAGS)\nb:\n\tg++ $(F) b.cpp\n",
        ),
        ("NVCCFLAGS = -x cu -std=c++11\n", "NVCCFLAGS = -x hip -std=c++17\n"),
        ("CXXFLAGS = -x c++ -std=c++11 -G -arch x86_64\n", "CXXFLAGS = -x c++ -std=c++11 -G -arch x86_64\n"),
        ("SM = sm_70\nCXXFLAGS = -march=$(SM)\n", "SM = sm_70\nCXXFLAGS = -march=$(SM)\n"),
        (
            "$(foreach s,$(SMS),$(eval NVCCF += -gencode arch=compute_$(s),code=sm_$(s)))\n",
            "$(foreach s,$(SMS),$(eval NVCCF += --offload-arch=native))\n",
        ),
        (
            "CUDA_GPUS = $(foreach s,$(SMS) 70, -gencode arch=compute_$(s),code=sm_$(s)) -O3\n",
            "CUDA_GPUS = --offload-arch=native -O3\n",
        ),
        (
            "NVCC_GENCODE ?= -gencode=arch=compute_75,code=sm_75 \\\n\t-gencode=arch=compute_80,code=sm_80 \\\n"
            "\t-gencode=arch=compute_90,code=compute_90\nNVCCFLAGS = -O3 \\\n  -restrict \\\n  -g\n",
            "NVCC_GENCODE ?= --offload-arch=native\nNVCCFLAGS = -O3 \\\n  -g\n",
        ),
        ("NVCCFLAGS += -arch=sm_$(subst .,,${CC}) -O3\n", "NVCCFLAGS += --offload-arch=native -O3\n"),
        ('ifneq ("$(wildcard /usr/bin/nvcc)", "")\n', 'ifneq ("$(wildcard /usr/bin/hipcc)", "")\n'),
        ("a.fatbin: a.cu\n\tnvcc -fatbin a.cu -o $@\n", "a.fatbin: a.cu\n\thipcc --genco a.cu -o $@\n"),
        (
            "l.a: a.o\n\tnvcc -lib -o $@ $^ -libs\n\tar -lib x\n",
            "l.a: a.o\n\thipcc --emit-static-lib -o $@ $^ -libs\n\tar -lib x\n",
        ),
        ("# nvcc -arch=sm_70\n", "# nvcc -arch=sm_70\n"),
        # a tab begins a recipe only where a rule is open
        ("ifeq ($(D),1)\n\tNVCCFLAGS += -G\nendif\n", "ifeq ($(D),1)\n\tNVCCFLAGS += -g\nendif\n"),
        ("a: b\n\tX=1 y\nF = 2\n\tNVCCFLAGS = -G\n", "a: b\n\tX=1 y\nF = 2\n\tNVCCFLAGS = -g\n"),
        ("a: b\nifdef D\n\tNVCCFLAGS=-G ./run\nendif\n", "a: b\nifdef D\n\tNVCCFLAGS=-G ./run\nendif\n"),
    ],
)
def test_words(before: str, after: str) -> None:
    found = ported(before)
    assert found == after
    assert ported(found) == found
    assert ported(before.replace("\n", "\r\n")).replace("\r\n", "\n") == after


def test_inexact_arithmetic_in_a_variable_is_reported() -> None:
    text = (
        b'CFLAGS = -Ofast -g\nLOCAL = -Ofast\nk.o:\n\tnvcc -Xcompiler "$(CFLAGS)" -c k.cu\nh.o:\n\tgcc $(LOCAL) h.c\n'
    )
    result = convert(text, "Makefile", Asked("make"))
    (judged,) = (j for j in result.findings if j.outcome is Outcome.MANUAL)
    assert judged.finding.code == "CU808" and judged.finding.start == text.index(b"-Ofast")


def test_gpus_that_are_asked_for() -> None:
    text = "NVCC=nvcc\nARCH = sm_70\nF = -arch=$(ARCH)\nG_CUDA = -arch=sm_80\n"
    assert ported(text, archs=("gfx942", "gfx1100")) == (
        "NVCC=hipcc\nARCH = gfx942,gfx1100\nF = --offload-arch=gfx942 --offload-arch=gfx1100\n"
        "G_CUDA = --offload-arch=gfx942 --offload-arch=gfx1100\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%.o: %.cu cuda.h\n", "%.o: %.hip cuda.h\n"),
        (".SUFFIXES: .cu\n.cu.o:\n\tnvcc -c $<\n", ".SUFFIXES: .hip\n.hip.o:\n\thipcc -c $<\n"),
        ("S = $(wildcard src/*.cu) # cuda\n", "S = $(wildcard src/*.hip) # cuda\n"),
        ("O = $(S:.cu=.o) cuda\n", "O = $(S:.hip=.o) cuda\n"),
        ("S = a.cu b.cu $(D)/a.cu x.cuh cuda\n", "S = a.hip b.cu $(D)/a.hip x.cuh cuda\n"),
    ],
)
def test_renamed_sources_are_followed(before: str, after: str) -> None:
    found = ported(before, renamed=frozenset({"a.cu", "src/c.cu"}), suffix=".hip")
    assert found == after


def test_a_file_that_builds_for_hip_is_left_alone() -> None:
    text = "ifdef HIP\nCC = hipcc\nelse\nCC = nvcc -G\nendif\n"
    result = port(text)
    assert result.output == text.encode()
    assert [j.finding.code for j in result.findings] == ["CU812"]


def test_a_comparison_follows_the_compiler() -> None:
    text = "CC ?= nvcc\nifeq ($(CC),nvcc)\nifneq (nvcc,$(CC))\n"
    assert ported(text) == text.replace("nvcc", "hipcc")


def test_the_host_s_compiler_is_told_the_platform() -> None:
    """g++ defines no macro for AMD's platform, without which HIP's headers stop."""
    text = "CUDA = /usr/local/cuda\nCXXFLAGS = -O2 -I$(CUDA)/include\nNVCCFLAGS = -I$(CUDA)/include\n"
    text += "LIBS = -L$(CUDA)/lib64 -lcudart\nX = $(CUDA)/bin/nvcc\n"
    assert ported(text) == (
        "CUDA = /opt/rocm\nCXXFLAGS = -O2 -I$(CUDA)/include -D__HIP_PLATFORM_AMD__\nNVCCFLAGS = -I$(CUDA)/include\n"
        "LIBS = -L$(CUDA)/lib -lamdhip64\nX = $(CUDA)/bin/hipcc\n"
    )


def test_what_runs_programs_is_text() -> None:
    text = "X := $(shell rm -rf / nvcc)\n!include /etc/passwd\n-include /dev/zero\n"
    assert ported(text) == text.replace("nvcc", "hipcc")


PIECES = st.sampled_from(
    [
        *(word for kind in ("option", "library") for word in table()[kind]),
        *"-lcudart -lcudadevrt nvcc $(CUDA_HOME)/lib64 /usr/local/cuda a.cu %.cu .cu.o: $(S:.cu=.o) $(NVCC)".split(),
        *(" ", " ", "\n", "\r\n", "\t", " \\\n", "#", '"', "'", "(", ")", ":", "=", ",", "$", "A = ", "NVCCFLAGS += "),
        *"-gencode arch=compute_70,code=sm_70 -arch=sm_70 -arch sm_70 -x cu -std=c++14 hipcc".split(),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join), st.booleans())
def test_texts_change_where_findings_say_and_once(text: str, renames: bool) -> None:
    asked: dict[str, object] = {"renamed": frozenset({"a.cu"}), "suffix": ".hip"} if renames else {}
    result = port(text, **asked)
    spans = [(e.start, e.end) for j in result.findings if j.outcome is Outcome.APPLIED for e in j.finding.edits]
    kept = "".join(c for i, c in enumerate(text) if not any(a <= i < b for a, b in spans))
    rest = iter(result.output.decode("latin-1"))
    assert all(c in rest for c in kept)  # what no edit covers stands there in its order
    if not any(j.outcome is Outcome.CONFLICT for j in result.findings):  # a person was told to finish those
        assert port(result.output.decode("latin-1"), **asked).output == result.output


@pytest.mark.parametrize(
    "name", ["Makefile.inc", "make.config", "common.mk.in", "make.def", "Make.defs", "Makefile_linux"]
)
def test_files_that_makefiles_include_are_known_by_name(name: str) -> None:
    assert kind_of(name) == "make"


def test_other_files_called_make_are_none() -> None:
    assert [n for n in ("make.sh", "make.py", "make.cu", "maker.config") if kind_of(n) == "make"] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("GPU_RUN = mpirun -np 2 ./app --threads 4 -G\n", "GPU_RUN = mpirun -np 2 ./app --threads 4 -G\n"),
        ("GPU_FLAGS = -O3 -G\n", "GPU_FLAGS = -O3 -g\n"),
        ("x:\n\t$(NVCC) -G a.cu && ./a.out -G; ./a.out -G\n", "x:\n\t$(NVCC) -g a.cu && ./a.out -G; ./a.out -G\n"),
        ("x:\n\tcd src; ccache $(NVCC) -G a.cu | tee -G\n", "x:\n\tcd src; ccache $(NVCC) -g a.cu | tee -G\n"),
        ("CC = nvcc\nx:\n\t@$(LD) -G a.o\n\tsh run -G\n", "CC = hipcc\nx:\n\t@$(LD) -g a.o\n\tsh run -G\n"),
    ],
)
def test_options_of_other_programs_stay(before: str, after: str) -> None:
    assert ported(f"NVCC = nvcc\n{before}") == f"NVCC = hipcc\n{after}"


def test_gpus_that_the_compiler_s_help_is_asked_for() -> None:
    """hipcc names none, so that no GPU would be given at all."""
    text = (
        "CU = nvcc\nifneq ($(shell $(CU) --help 2>&1 | grep sm_35),)\n"
        "CU_FLAGS += -gencode arch=compute_35,code=sm_35\nendif\n"
    )
    result = port(text)
    assert "grep sm_35" in result.output.decode()
    (said,) = [j.finding for j in result.findings if j.outcome is Outcome.MANUAL]
    assert said.code == "CU805" and "`sm_35` stays" in said.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (  # arguments that are patterns are no options
            "a:\n\tnvcc $(filter-out -arch=sm_%,$(filter-out --ptxas-options=% -G,$(F))) -G -o $@\n",
            "a:\n\thipcc $(filter-out --offload-arch=%,$(filter-out --ptxas-options=% -G,$(F))) -g -o $@\n",
        ),
        (
            "NVCC = nvcc\nNVCCFLAGS = $(patsubst -I%,-G -I%,$(I)) -G\n",
            "NVCC = hipcc\nNVCCFLAGS = $(patsubst -I%,-g -I%,$(I)) -g\n",
        ),
        (  # commas were for nvcc
            "a:\n\tnvcc --compiler-options $(subst $(space),$(comma),$(strip $(F))) -G\n",
            "a:\n\thipcc $(strip $(F)) -g\n",
        ),
        ('a:\n\tnvcc -Xcompiler="$(subst ${SPACE},${COMMA},$(F))" -G\n', "a:\n\thipcc $(F) -g\n"),
        (
            "NVCCFLAGS = $(filter -std=%,$(F)) --compiler-options \\\n"
            "  $(subst $(space),$(comma),$(filter-out -std=%,$(F)))\n\t-G\nNVCC=nvcc\n",
            "NVCCFLAGS = $(filter -std=%,$(F)) $(filter-out -std=%,$(F))\n\t-G\nNVCC=hipcc\n",
        ),
        ("a:\n\tnvcc -Xptxas $(filter -v,$(F)) -G\n", "a:\n\thipcc -g\n"),
        (  # a call is an option's value
            "a:\n\tnvcc -Xptxas $(if $V,-v) -Xptxas=$(if $V,-v) -Xcompiler $(addprefix -W,$F) -arch $(word 1,$(B))\n",
            "a:\n\thipcc $(addprefix -W,$F) --offload-arch=native\n",
        ),
        (
            "a:\n\tnvcc $(if $(G), -G) -Xcompiler=$(addprefix -W,$(F))\n",
            "a:\n\thipcc $(if $(G), -g) $(addprefix -W,$(F))\n",
        ),
        (  # as in the samples of CUDA
            "NVCC = nvcc\nH = -G\nNVCCFLAGS += $(addprefix -Xcompiler ,$(H)) $(addprefix -Xlinker ,$(L)) -G\n",
            "NVCC = hipcc\nH = -G\nNVCCFLAGS += $(H) $(addprefix -Xlinker ,$(L)) -g\n",
        ),
        (
            "a:\n\tnvcc $(addprefix -Xptxas=,$(A)) $(addprefix -Xcompiler=-W,$(A)) $(patsubst %,-Xcompiler %,$(A))\n",
            "a:\n\thipcc $(addprefix -W,$(A)) $(patsubst %,%,$(A))\n",
        ),
        ("a:\n\tnvcc $(A:%=-Xcompiler %) $(if $(G),-G,-O2)\n", "a:\n\thipcc $(A:%=%) $(if $(G),-g,-O2)\n"),
        (  # what is filtered has HIP's names
            "CU = nvcc\nF = -lcudart -lm\ncpu: F := $(filter-out -lcudart -lm -lown, $(F))\n",
            "CU = hipcc\nF = -lamdhip64 -lm\ncpu: F := $(filter-out -lamdhip64 -lm -lown, $(F))\n",
        ),
        ("a:\n\tgcc $(filter-out -arch=%,$(F))\n", None),
    ],
)
def test_arguments_of_functions(before: str, after: str | None) -> None:
    if after is None:
        assert ported(before) == before
    else:
        assert ported(before) == after


_LEAVES = st.sampled_from(
    "-G -O2 -Xcompiler -Xptxas -v -arch=sm_70 -arch=sm_% -gencode -Xlinker --compiler-options % $(F) a.cu".split()
)
_TEXTS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
        st.tuples(st.sampled_from(["addprefix", "filter-out", "filter"]), inner, inner).map(
            lambda x: f"$({x[0]} {x[1]},{x[2]})"
        ),
        st.tuples(st.sampled_from(["if", "subst", "patsubst"]), inner, inner, inner).map(
            lambda x: f"$({x[0]} {x[1]},{x[2]},{x[3]})"
        ),
    ),
    max_leaves=8,
)


def _calls(text: str) -> list[tuple[str, int]]:
    """Each call of a function with its number of commas."""
    found: list[tuple[str, int]] = []
    open_calls: list[tuple[str, int]] = []
    for piece in re.findall(r"\$\((?:[a-z-]+ )?|\)|,", text):
        if piece.startswith("$("):
            open_calls.append((piece[2:].strip(), 0))
        elif piece == ")":
            found.append(open_calls.pop())  # an IndexError is a bracket too many
        elif open_calls:
            name, commas = open_calls.pop()
            open_calls.append((name, commas + 1))
    assert not open_calls
    return found


@settings(max_examples=150, deadline=None)
@given(_TEXTS)
def test_calls_of_functions_stay_whole(text: str) -> None:
    wanted = {"addprefix": 1, "filter-out": 1, "filter": 1, "if": 2, "subst": 2, "patsubst": 2, "": 0}
    for line in (f"NVCCFLAGS = {text}\n", f"a:\n\tnvcc {text} -o $@\n"):
        for name, commas in _calls(ported(line)):
            assert commas == wanted[name], line


@pytest.mark.parametrize(
    "line",
    (
        "F = -Xptxas=$$(a) -g $(B) ${C}/d",
        "\tnvcc -G $(A) $$B -Xptxas $(if $(V),-v) x.cu",
        "F = \\$(a) -Xptxas=$(call x,y) $(D:.cu=.o) $@ $< $",
        "F = -arch=sm_$(SM) '$(A)' \"$(B) c\" $(a} ${b) $(addprefix -Xcompiler ,$(W))",
    ),
)
def test_a_line_of_plain_variables_is_read_as_any_other(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def words() -> list[Word]:
        read = next(make_lines.logical_lines(line))
        return list(make._words(read, functions.functions(read.text, 0)))

    short = words()
    monkeypatch.setattr(functions, "_MORE", re.compile(r"\$"))
    assert short == words()


def test_lines_without_what_is_looked_for_change_nothing() -> None:
    lines = "\n".join(("CC = nvcc", "\t", "# nvcc", "NAME = x y", "all:", "ifdef X", "endif", "\t@echo done"))
    assert len(list(make_lines.logical_lines(lines))) == 6
    assert [f.cuda for f in make.make(lines, Asked("make"))] == ["nvcc"]


def test_tools_of_cuda_are_named() -> None:
    text = (
        "a: a.cu\n\tnvcc $<\nmemcheck: a\n\t/usr/local/cuda/bin/cuda-memcheck --leak-check full ./a\n\tnvprof ./a ncu\n"
    )
    result = convert(text.encode(), "Makefile", Asked("make"))
    assert result.output.decode() == text.replace("nvcc", "hipcc")
    said = [j.finding.message for j in result.findings if j.outcome is Outcome.MANUAL]
    assert [m.partition("; write ")[2] for m in said] == ["rocgdb, or a build with -fsanitize=address", "rocprofv3"]


HOSTS = (
    "OBJS := main.o k.o\nNVCC := nvcc\n%.o: %.cpp a.h\n\t@$(CXX) -O2 -c -o $@ $<\n%.o: %.cu\n\t$(NVCC) -c -o $@ $<\n"
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (HOSTS, 1),
        (HOSTS.replace("main.o", "$(patsubst %.cpp,%.o,$(wildcard src/*.cpp))"), 1),
        (HOSTS.replace("%.o: %.cpp a.h", ".cpp.o:"), 1),
        (HOSTS.replace("@$(CXX) -O2", "g++ -O2"), 1),
        (HOSTS.replace("main.o", "other.o"), 0),
        (HOSTS.replace("$(CXX) -O2", "$(NVCC)"), 0),
        (HOSTS.replace(":= nvcc", ":= cc").replace("NVCC", "OTHER"), 0),
        (f"{HOSTS}x.o: x.cpp\n\t$(NVCC) -c x.cpp\n", 0),
    ],
)
def test_sources_of_the_host_that_include_thrust_are_reported(text: str, count: int) -> None:
    """Not where nvcc compiles such sources too: nothing tells which compiler a source is for."""
    asked = Asked("make", folder="a", device_hosts=frozenset({"a/main.cpp", "a/src/y.cpp", "b/other.cpp"}))
    found = [j for j in convert(text.encode(), "Makefile", asked).findings if j.finding.code == "CU820"]
    assert len(found) == count
    assert all(j.open for j in found)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("V=$(shell cat /usr/local/cuda/version.txt)", "CU815"),
        ("L=-L/opt/nvidia/hpc_sdk/Linux_x86_64/22.7/cuda/lib64", "CU815"),
        ("F=`pkg-config --libs cudart-12`", "CU817"),
        ("G=$(shell lspci | grep -i nvidia)", "CU817"),
        ("F=-D__CUDA_ARCH__=700", "CU819"),
    ],
)
def test_what_rocm_has_not_is_told(line: str, code: str) -> None:
    text = f"NVX=g++\n{line}\n"
    result = convert(text.encode(), "Makefile", Asked("make"))
    assert [(j.finding.code, j.outcome) for j in result.findings] == [(code, Outcome.MANUAL)]
    assert result.output.decode() == text
