// Texture references: each kind of memory that they can be bound to, each way to call that, and to read them.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

texture<float, 1, cudaReadModeElementType> numbers;
static texture<int2, 1> pairs;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colours(1, cudaFilterModePoint, cudaAddressModeMirror);
texture<float, 2> image;
texture<float, 3, cudaReadModeElementType> block;
texture<unsigned short, cudaTextureType2DLayered> layers;

__global__ void fetches(float* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int2 p = tex1Dfetch(pairs, i / 2);
    float4 c = tex2D(colours, i * .3f - 2, i * .2f);
    o[i] = tex1Dfetch(numbers, i - 1) + (p.x - p.y) + c.x * 3 + c.w + tex2D(image, i * .5f, i * .25f) +
           tex3D(block, i % 4 + .5f, i / 4 % 4 + .5f, i / 16) + tex2DLayered(layers, i % 5, i / 5 % 5, i / 25);
}
template <class T> void bind(texture<T, 1>& t, const T* p, size_t n) {
    if (cudaBindTexture(0, t, p, n * sizeof(T)) != cudaSuccess) printf("not bound\n");
}
template <class T> T* sent(const std::vector<T>& v) {
    T* p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
void show(float* o, int n) {
    fetches<<<2, 64>>>(o, n);
    std::vector<float> h(n);
    cudaMemcpy(h.data(), o, n * 4, cudaMemcpyDeviceToHost);
    for (float v : h) printf("%g ", v);
    printf("\n");
}
int main() {
    const int n = 100;
    std::vector<float> f(128);
    std::vector<int2> twos(64);
    std::vector<unsigned short> s(5 * 5 * 4);
    for (int i = 0; i < 128; ++i) f[i] = i * 37 % 64 / 4.f - 3;
    for (int i = 0; i < 64; ++i) twos[i] = make_int2(i * 7, -i);
    for (int i = 0; i < 100; ++i) s[i] = i * 11;
    float* o;
    cudaMalloc(&o, n * 4);
    float* d = sent(f);
    size_t offset = 7;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    if (cudaBindTexture(&offset, &numbers, d, &desc) != cudaSuccess || offset != 0) printf("not bound\n");
    bind(pairs, sent(twos), 64);
    std::vector<unsigned char> bytes(16 * 4 * 4);
    for (int i = 0; i < 256; ++i) bytes[i] = i * 71;
    unsigned char* texels = sent(bytes);
    cudaBindTexture2D(0, colours, texels, 16, 4, 64);
    cudaArray_t two, three, stack;
    cudaMallocArray(&two, &desc, 8, 8);
    cudaMemcpyToArray(two, 0, 0, f.data(), 256, cudaMemcpyHostToDevice);
    image.filterMode = cudaFilterModeLinear;
    image.addressMode[0] = cudaAddressModeBorder;
    cudaBindTextureToArray(image, two);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(f.data(), 16, 4, 4);
    p.extent = make_cudaExtent(4, 4, 8), p.kind = cudaMemcpyHostToDevice;
    cudaMalloc3DArray(&three, &desc, p.extent);
    p.dstArray = three;
    cudaMemcpy3D(&p);
    cudaBindTextureToArray(block, three, desc);
    cudaChannelFormatDesc shorts = cudaCreateChannelDesc<unsigned short>();
    p.srcPtr = make_cudaPitchedPtr(s.data(), 10, 5, 5), p.extent = make_cudaExtent(5, 5, 4);
    cudaMalloc3DArray(&stack, &shorts, p.extent, cudaArrayLayered);
    p.dstArray = stack;
    cudaMemcpy3D(&p);
    cudaBindTextureToArray(layers, stack);
    show(o, n);
    cudaUnbindTexture(numbers);
    cudaBindTexture(0, numbers, d + 64, desc, 40 * sizeof(float));
    image.filterMode = cudaFilterModePoint, image.normalized = 1;
    cudaBindTextureToArray(image, two);
    show(o, n);
    printf("%d %d\n", numbers.channelDesc.x, colours.normalized);
}
