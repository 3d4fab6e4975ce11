// The driver's descriptors: arrays, boxes, rows, texture objects, and a graph's node of any kind.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define OK(x) do { if (int e = (int)(x)) { printf("%s: %d\n", #x, e); exit(1); } } while (0)

struct Never {  // named alone
    CUDA_LAUNCH_PARAMS* launches;
    CUDA_RESOURCE_VIEW_DESC view;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals;
    CUDA_MEM_ALLOC_NODE_PARAMS memory;
    CUstreamBatchMemOpParams batch;
    CUtexref texture;
};

__global__ void fetch(cudaTextureObject_t t, float* out) {
    const int lane = threadIdx.x;
    float v = tex2D<float>(t, lane % 8 + 0.5f, lane / 8 + 0.5f);
    v += __shfl_xor_sync(~0u, v, 1);
    out[lane] = v;
}
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }

int main() {
    OK(cuInit(0));
    OK(cudaFree(0));
    // Bytes, of which a texture makes fractions of 1.
    CUDA_ARRAY_DESCRIPTOR shape = {};
    shape.Width = 8, shape.Height = 4, shape.Format = CU_AD_FORMAT_UNSIGNED_INT8, shape.NumChannels = 1;
    CUarray bytes;
    OK(cuArrayCreate(&bytes, &shape));
    unsigned char host[32];
    for (int i = 0; i < 32; ++i) host[i] = (unsigned char)(i * 5);
    OK(cuMemcpyHtoA(bytes, 0, host, 32));
    CUDA_RESOURCE_DESC from = {};
    from.resType = CU_RESOURCE_TYPE_ARRAY, from.res.array.hArray = bytes;
    CUDA_TEXTURE_DESC how = {};
    how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    how.filterMode = CU_TR_FILTER_MODE_POINT;
    CUtexObject texture;
    OK(cuTexObjectCreate(&texture, &from, &how, NULL));
    float *out, got[32];
    OK(cudaMalloc(&out, sizeof got));
    fetch<<<1, 32>>>(texture, out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    printf("fractions %.4f %.4f %.4f\n", got[0], got[9], got[31]);
    OK(cuTexObjectDestroy(texture));

    // A box of a box, into an array of three dimensions and back.
    CUDA_ARRAY3D_DESCRIPTOR solid = {}, known = {};
    solid.Width = 4, solid.Height = 3, solid.Depth = 2, solid.Format = CU_AD_FORMAT_SIGNED_INT16, solid.NumChannels = 2;
    CUarray box;
    OK(cuArray3DCreate(&box, &solid));
    OK(cuArray3DGetDescriptor(&known, box));
    printf("shape %zu %zu %zu, format %d of %u\n", known.Width, known.Height, known.Depth, (int)known.Format, known.NumChannels);
    short in[2][3][8], back[2][3][8] = {};
    for (int i = 0; i < 48; ++i) (&in[0][0][0])[i] = (short)i;
    CUDA_MEMCPY3D to = {};
    to.srcMemoryType = CU_MEMORYTYPE_HOST, to.srcHost = in, to.srcPitch = 16, to.srcHeight = 3;
    to.dstMemoryType = CU_MEMORYTYPE_ARRAY, to.dstArray = box;
    to.WidthInBytes = 16, to.Height = 3, to.Depth = 2;
    OK(cuMemcpy3D(&to));
    CUDA_MEMCPY3D part = {};
    part.srcMemoryType = CU_MEMORYTYPE_ARRAY, part.srcArray = box, part.srcXInBytes = 4, part.srcY = 1, part.srcZ = 1;
    part.dstMemoryType = CU_MEMORYTYPE_HOST, part.dstHost = back, part.dstPitch = 16, part.dstHeight = 3;
    part.WidthInBytes = 8, part.Height = 2, part.Depth = 1;
    OK(cuMemcpy3D(&part));
    part.Depth = 2;
    printf("box %d %d %d %d, too deep %d\n", back[0][0][0], back[0][0][3], back[0][1][0], back[0][1][4], (int)cuMemcpy3D(&part));

    CUdeviceptr rows;
    size_t pitch;
    unsigned short lines[3][4];
    OK(cuMemAllocPitch(&rows, &pitch, 8, 3, 4));
    OK(cuMemsetD2D16(rows, pitch, 7, 4, 3));
    OK(cuMemsetD2D8(rows + pitch, pitch, 1, 2, 2));
    OK(cudaMemcpy2D(lines, 8, (void*)rows, pitch, 8, 3, cudaMemcpyDeviceToHost));
    printf("rows %d %d %d\n", lines[0][0], lines[1][0], lines[2][3]);

    // Nodes of any kind.
    int *d, ints[32];
    OK(cudaMalloc(&d, sizeof ints));
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t first, second;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams fill = {};
    fill.type = cudaGraphNodeTypeMemset;
    fill.memset.dst = d, fill.memset.value = 21, fill.memset.elementSize = 4, fill.memset.width = 32, fill.memset.height = 1;
    OK(cudaGraphAddNode(&first, graph, NULL, 0, &fill));
    void* arguments[] = {&d};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void*)twice, kernel.gridDim = dim3(1), kernel.blockDim = dim3(32), kernel.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
    OK(cudaGraphInstantiate(&ready, graph, 0));
    OK(cudaGraphLaunch(ready, 0));
    OK(cudaMemcpy(ints, d, sizeof ints, cudaMemcpyDeviceToHost));
    cudaGraphNodeParams memory = {};
    memory.type = cudaGraphNodeTypeMemAlloc;
    printf("graph %d, memory %d\n", ints[31], (int)cudaGraphAddNode(&first, graph, NULL, 0, &memory));
    OK(cuArrayDestroy(bytes));
    OK(cuArrayDestroy(box));
    return 0;
}
