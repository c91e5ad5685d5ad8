/* The best score of Zhou & Zhao (2019, joint span): comp of every span and head, from both children's
   heads. `one` and `multi` are the values of a span that must be a constituent and of one that may
   be empty: [n+1, n+1, n+1] by start, end, head. */
#include <math.h>

float best(int n, const float *constituent, const float *empty, const float *arcs,
           float *one, float *multi)
{
    const int m = n + 1;
    for (int width = 1; width <= n; width++)
        for (int i = 0; i + width <= n; i++) {
            const int j = i + width;
            float *one_ij = one + (i * m + j) * m, *multi_ij = multi + (i * m + j) * m;
            for (int h = i + 1; h <= j; h++)
                one_ij[h] = width == 1 ? 0 : -INFINITY;
            for (int k = i + 1; k < j; k++) {
                const float *one_l = one + (i * m + k) * m, *multi_l = multi + (i * m + k) * m;
                const float *one_r = one + (k * m + j) * m, *multi_r = multi + (k * m + j) * m;
                for (int l = i + 1; l <= k; l++)
                    for (int r = k + 1; r <= j; r++) {
                        const float by_l = multi_l[l] + one_r[r] + arcs[(r - 1) * m + l];
                        const float by_r = one_l[l] + multi_r[r] + arcs[(l - 1) * m + r];
                        one_ij[l] = by_l > one_ij[l] ? by_l : one_ij[l];
                        one_ij[r] = by_r > one_ij[r] ? by_r : one_ij[r];
                    }
            }
            const float full = constituent[i * m + j], none = empty[i * m + j];
            for (int h = i + 1; h <= j; h++) {
                multi_ij[h] = one_ij[h] + (full > none || width == n ? full : none);
                one_ij[h] = width == 1 ? multi_ij[h] : one_ij[h] + full;
            }
        }
    float top = -INFINITY;
    for (int h = 1; h <= n; h++)
        top = fmaxf(top, one[n * m + h] + arcs[(h - 1) * m]);
    return top;
}
