// Arrays, textures and surfaces in every mode: one line of output for each, with a digest of all that was fetched.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>
#include <cmath>
#include <vector>

__device__ unsigned bits(float v) { return __float_as_uint(v); }
__global__ void sweep1(cudaTextureObject_t t, unsigned* o, int n, float from, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = bits(tex1D<float>(t, from + step * i));
}
__global__ void sweep2(cudaTextureObject_t t, unsigned* o, int n, float from, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    float x = from + step * (i % n), y = from + step * (i / n);
    float4 v = tex2D<float4>(t, x, y);
    o[i] = bits(v.x) ^ bits(v.y) * 3 ^ bits(v.z) * 5 ^ bits(v.w) * 7;
}
__global__ void sweep3(cudaTextureObject_t t, unsigned* o, int n, float from, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n * n) return;
    o[i] = bits(tex3D<float>(t, from + step * (i % n), from + step * (i / n % n), from + step * (i / n / n)));
}
__global__ void ints(cudaTextureObject_t t, unsigned* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int2 v = tex2D<int2>(t, i % 9 - 1.5f, i / 9 - 1.5f);
    o[i] = v.x * 31 + v.y;
}
__global__ void linear(cudaTextureObject_t t, unsigned* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = tex1Dfetch<unsigned char>(t, i - 3);
}
__global__ void layers(cudaTextureObject_t t, unsigned* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = bits(tex2DLayered<float>(t, i % 7 + .25f, i / 7 % 5 + .5f, i / 35 - 1));
}
__global__ void gathers(cudaTextureObject_t t, unsigned* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = tex2Dgather<float4>(t, i % 9 * .75f, i / 9 * .75f, i % 3);
    o[i] = bits(v.x) ^ bits(v.y) * 3 ^ bits(v.z) * 5 ^ bits(v.w) * 7;
}
__global__ void surfaces(cudaSurfaceObject_t s, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i % (w + 2) - 1, y = i / (w + 2) - 1;
    if (y > h) return;
    float v;
    surf2Dread(&v, s, x * 4, y, cudaBoundaryModeZero);
    surf2Dwrite(v * 2 + 1, s, x * 4, y, cudaBoundaryModeZero);
}
unsigned* out;
unsigned long long sum = 1469598103934665603ull;
void take(const char* what, int n) {
    cudaDeviceSynchronize();
    std::vector<unsigned> h(n);
    cudaMemcpy(h.data(), out, n * 4, cudaMemcpyDeviceToHost);
    unsigned long long local = 1469598103934665603ull;
    for (unsigned v : h) local = (local ^ v) * 1099511628211ull;
    printf("%s %016llx\n", what, local);
}
cudaTextureObject_t texture_of(cudaArray_t a, cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                               cudaTextureReadMode read, int norm) {
    cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc d;
    memset(&d, 0, sizeof d);
    for (int i = 0; i < 3; ++i) d.addressMode[i] = mode;
    d.filterMode = filter, d.readMode = read, d.normalizedCoords = norm;
    cudaTextureObject_t t = 0;
    if (cudaCreateTextureObject(&t, &r, &d, nullptr) != cudaSuccess) printf("no texture\n");
    return t;
}
int main() {
    cudaMalloc(&out, 1 << 20);
    const int w = 8, h = 8, d = 4;
    std::vector<float> f(w * h * d), f4(w * h * 4);
    for (int i = 0; i < w * h * d; ++i) f[i] = (i * 37 % 64) / 4.f - 3;
    for (int i = 0; i < w * h * 4; ++i) f4[i] = (i * 29 % 128) / 8.f - 5;
    cudaArray_t one, two, three, bytes, pairs, stack;
    cudaChannelFormatDesc c1 = cudaCreateChannelDesc<float>(), c4 = cudaCreateChannelDesc<float4>();
    cudaChannelFormatDesc cb = cudaCreateChannelDesc<uchar4>(), ci = cudaCreateChannelDesc<int2>();
    cudaMallocArray(&one, &c1, w);
    cudaMemcpy2DToArray(one, 0, 0, f.data(), w * 4, w * 4, 1, cudaMemcpyHostToDevice);
    cudaMallocArray(&two, &c4, w, h, cudaArrayTextureGather);
    cudaMemcpy2DToArray(two, 0, 0, f4.data(), w * 16, w * 16, h, cudaMemcpyHostToDevice);
    cudaMalloc3DArray(&three, &c1, make_cudaExtent(w, h, d));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(f.data(), w * 4, w, h);
    p.dstArray = three, p.extent = make_cudaExtent(w, h, d), p.kind = cudaMemcpyHostToDevice;
    if (cudaMemcpy3D(&p) != cudaSuccess) printf("copy fails\n");
    cudaMalloc3DArray(&stack, &c1, make_cudaExtent(w, h, d), cudaArrayLayered);
    p.dstArray = stack;
    cudaMemcpy3D(&p);
    std::vector<unsigned char> u(w * h * 4);
    for (int i = 0; i < w * h * 4; ++i) u[i] = i * 71;
    cudaMallocArray(&bytes, &cb, w, h);
    cudaMemcpy2DToArray(bytes, 0, 0, u.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice);
    std::vector<int> n2(w * h * 2);
    for (int i = 0; i < w * h * 2; ++i) n2[i] = i * 1000003;
    cudaMallocArray(&pairs, &ci, w, h);
    cudaMemcpy2DToArray(pairs, 0, 0, n2.data(), w * 8, w * 8, h, cudaMemcpyHostToDevice);
    const cudaTextureAddressMode modes[] = {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap,
                                            cudaAddressModeMirror};
    const char* names[] = {"clamp", "border", "wrap", "mirror"};
    char text[64];
    for (int m = 0; m < 4; ++m)
        for (int filter = 0; filter < 2; ++filter)
            for (int norm = 0; norm < 2; ++norm) {
                const float from = norm ? -1.5f : -12.f, step = norm ? 1.f / 64 : 1.f / 8;
                const cudaTextureFilterMode fm = filter ? cudaFilterModeLinear : cudaFilterModePoint;
                cudaTextureObject_t t = texture_of(one, modes[m], fm, cudaReadModeElementType, norm);
                sweep1<<<4, 64>>>(t, out, 256, from, step);
                sprintf(text, "1D %s %d %d", names[m], filter, norm), take(text, 256), cudaDestroyTextureObject(t);
                t = texture_of(two, modes[m], fm, cudaReadModeElementType, norm);
                sweep2<<<16, 64>>>(t, out, 32, from, step * 8);
                sprintf(text, "2D %s %d %d", names[m], filter, norm), take(text, 1024), cudaDestroyTextureObject(t);
                t = texture_of(bytes, modes[m], fm, cudaReadModeNormalizedFloat, norm);
                sweep2<<<16, 64>>>(t, out, 32, from, step * 8);
                sprintf(text, "2D bytes %s %d %d", names[m], filter, norm);
                if (!filter) take(text, 1024);
                cudaDestroyTextureObject(t);
                t = texture_of(three, modes[m], fm, cudaReadModeElementType, norm);
                sweep3<<<27, 64>>>(t, out, 12, from / 4, step * 4);
                sprintf(text, "3D %s %d %d", names[m], filter, norm), take(text, 1728), cudaDestroyTextureObject(t);
            }
    cudaTextureObject_t t = texture_of(pairs, cudaAddressModeBorder, cudaFilterModePoint, cudaReadModeElementType, 0);
    ints<<<2, 64>>>(t, out, 99), take("ints", 99), cudaDestroyTextureObject(t);
    t = texture_of(stack, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, 0);
    layers<<<4, 64>>>(t, out, 35 * 6), take("layers", 35 * 6), cudaDestroyTextureObject(t);
    t = texture_of(two, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, 0);
    gathers<<<2, 64>>>(t, out, 81), take("gather", 81), cudaDestroyTextureObject(t);
    void* memory;
    cudaMalloc(&memory, 64);
    cudaMemcpy(memory, u.data(), 64, cudaMemcpyHostToDevice);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory, r.res.linear.sizeInBytes = 64;
    r.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    cudaTextureDesc td = {};
    cudaCreateTextureObject(&t, &r, &td, nullptr);
    linear<<<2, 64>>>(t, out, 70), take("linear", 70), cudaDestroyTextureObject(t);
    cudaMalloc(&memory, 64 * 8);
    cudaMemcpy2D(memory, 64, f.data(), w * 4, w * 4, 8, cudaMemcpyHostToDevice);
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = memory, r.res.pitch2D.desc = c1;
    r.res.pitch2D.width = w, r.res.pitch2D.height = 8, r.res.pitch2D.pitchInBytes = 64;
    td.filterMode = cudaFilterModeLinear, td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
    cudaCreateTextureObject(&t, &r, &td, nullptr);
    sweep2<<<16, 64>>>(t, out, 32, -1, .25f), take("pitch", 1024), cudaDestroyTextureObject(t);
    cudaSurfaceObject_t s;
    cudaArray_t sa;
    cudaMallocArray(&sa, &c1, w, h, cudaArraySurfaceLoadStore);
    cudaMemcpyToArray(sa, 0, 0, f.data(), w * h * 4, cudaMemcpyHostToDevice);
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeArray, r.res.array.array = sa;
    cudaCreateSurfaceObject(&s, &r);
    surfaces<<<2, 64>>>(s, w, h);
    cudaDeviceSynchronize();
    cudaMemcpy2DFromArray(out, w * 4, sa, 0, 0, w * 4, h, cudaMemcpyDeviceToDevice);
    take("surface", w * h);
    cudaDestroySurfaceObject(s);
    cudaMemset(out, 0, 4 * 96);
    cudaMemcpy3DParms plain = {};  // no array: widths and positions count bytes
    plain.srcPtr = make_cudaPitchedPtr(f.data(), w * 4, w * 4, h), plain.srcPos = make_cudaPos(4, 1, 0);
    plain.dstPtr = make_cudaPitchedPtr(out, 16, 16, 3), plain.dstPos = make_cudaPos(4, 0, 0);
    plain.extent = make_cudaExtent(12, 3, 2), plain.kind = cudaMemcpyHostToDevice;
    if (cudaMemcpy3D(&plain) != cudaSuccess) printf("plain copy fails\n");
    take("plain", 24);
    cudaExtent e; unsigned flags; cudaChannelFormatDesc got;
    cudaArrayGetInfo(&got, &e, &flags, stack);
    printf("%d %zu %zu %zu %u\n", got.x, e.width, e.height, e.depth, flags);
    for (cudaArray_t a : {one, two, three, bytes, pairs, stack, sa}) cudaFreeArray(a);
}
