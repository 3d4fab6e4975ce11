// Runs the kernels that `cu2port ptx` made of textures.ptx, and compares with HIP's own functions.
#include "kernels.hip"
#include <cstdio>
#define T (blockIdx.x * blockDim.x + threadIdx.x)
__global__ void direct(hipTextureObject_t t, hipTextureObject_t p, hipTextureObject_t u, float* out) {
    out[T] = tex2D<float>(t, T % 9 * 0.7f, T % 5 * 0.9f) + tex2DLod<float>(t, 1.5f, 2.5f, 0.f) * 3;
    out[T + 64] = tex2DGrad<float>(t, T % 8 + 0.5f, T % 3, make_float2(0.1f, 0.2f), make_float2(0.3f, 0.4f)) +
                  tex2Dgather<float4>(t, 1.2f, T % 4 * 1.f, 0).y;
    out[T + 128] = tex1Dfetch<float>(p, T % 40);
    out[T + 192] = tex2DLayered<float>(u, T % 7 + 0.5f, T % 3 + 0.5f, T % 2) +
                   tex2DLayeredLod<float>(u, T % 5 + 0.5f, T % 3 + 0.5f, 1, 0.f);
}
int main() {
    float h[64], got[256], want[256];
    for (int i = 0; i < 64; ++i) h[i] = i * i % 37 + 0.25f;
    hipChannelFormatDesc d = hipCreateChannelDesc<float>();
    hipArray_t a, l;
    hipMallocArray(&a, &d, 8, 4, hipArraySurfaceLoadStore);
    hipMemcpy2DToArray(a, 0, 0, h, 32, 32, 4, hipMemcpyHostToDevice);
    hipMalloc3DArray(&l, &d, make_hipExtent(8, 4, 2), hipArrayLayered);
    hipMemcpy3DParms c{};
    c.srcPtr = make_hipPitchedPtr(h, 32, 8, 4), c.dstArray = l;
    c.extent = make_hipExtent(8, 4, 2), c.kind = hipMemcpyHostToDevice;
    hipMemcpy3D(&c);
    float *lin, *out;
    hipMalloc(&lin, 160);
    hipMalloc(&out, 1024);
    hipMemcpy(lin, h, 160, hipMemcpyHostToDevice);
    hipResourceDesc r{};
    hipTextureDesc s{};
    hipTextureObject_t t, p, u;
    hipSurfaceObject_t o;
    r.resType = hipResourceTypeArray;
    r.res.array.array = a;
    s.filterMode = hipFilterModeLinear;
    s.readMode = hipReadModeElementType;
    s.addressMode[0] = s.addressMode[1] = hipAddressModeClamp;
    hipCreateTextureObject(&t, &r, &s, nullptr);
    hipCreateSurfaceObject(&o, &r);
    r.res.array.array = l;
    hipCreateTextureObject(&u, &r, &s, nullptr);
    r = {};
    r.resType = hipResourceTypeLinear;
    r.res.linear.devPtr = lin;
    r.res.linear.desc = d;
    r.res.linear.sizeInBytes = 160;
    s.filterMode = hipFilterModePoint;
    hipCreateTextureObject(&p, &r, &s, nullptr);
    t1<<<1, 64>>>((std::uint64_t)t, (std::uint64_t)p, (std::uint64_t)u, (std::uint64_t)out);
    hipMemcpy(got, out, 1024, hipMemcpyDeviceToHost);
    direct<<<1, 64>>>(t, p, u, out);
    hipMemcpy(want, out, 1024, hipMemcpyDeviceToHost);
    int bad = 0; float sum = 0;
    for (int i = 0; i < 256; ++i) bad += got[i] != want[i], sum += got[i];
    s1<<<1, 32>>>((std::uint64_t)o);
    hipMemcpy2DFromArray(got, 32, a, 0, 0, 32, 4, hipMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) bad += got[i] != h[i] * 2 + i;
    std::printf(bad || sum < 1 ? "%d wrong, sum %g\n" : "PASS\n", bad, sum);
    return bad != 0;
}
