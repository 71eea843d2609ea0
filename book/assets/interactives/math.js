/* The mathematics of the interactives: pure functions of numbers and arrays, on one global, so that
   tests can compare each of them with PyTorch. A classic script: file:// blocks modules. */
const TransformerMaths = (() => {
  const sum = (x) => x.reduce((total, value) => total + value, 0);
  const mean = (x) => sum(x) / x.length;

  /* Indices from the largest value down; of equal ones the first comes first. */
  const best = (values) =>
    values.map((_, i) => i).sort((i, j) => Number((values[j] - values[i]).toFixed(9)) || i - j);

  /* The largest score is taken off first, so that no exponential overflows. */
  const softmax = (scores, temperature = 1) => {
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp((score - largest) / temperature));
    const total = sum(powers);
    return powers.map((power) => power / total);
  };

  /* d a_i / d s_j = a_i (1[i = j] - a_j). Its largest entry is on the diagonal, since
     1 - a_i is the sum of all other a_j. */
  const softmaxGradient = (weights) =>
    Math.max(...weights.map((a, i) => a * sum(weights.filter((_, j) => j !== i))));

  /* All steps: x - mean, the biased variance, the normalised x, and gamma, beta applied. */
  const layerNorm = (x, { gamma = 1, beta = 0, eps = 1e-5 } = {}) => {
    const mu = mean(x);
    const centred = x.map((value) => value - mu);
    const variance = mean(centred.map((value) => value * value));
    const divisor = Math.sqrt(variance + eps);
    const normalised = centred.map((value) => value / divisor);
    const output = normalised.map((value) => gamma * value + beta);
    return { mu, centred, variance, divisor, normalised, output };
  };

  const rmsNorm = (x, { gamma = 1, eps = 1e-5 } = {}) => {
    const square = mean(x.map((value) => value * value));
    const divisor = Math.sqrt(square + eps);
    const normalised = x.map((value) => value / divisor);
    const output = normalised.map((value) => gamma * value);
    return { square, divisor, normalised, output };
  };

  /* erf to the last digits. Up to 3 the series of Abramowitz and Stegun 7.1.6, whose terms are all
     positive, so that nothing cancels; beyond, one minus their continued fraction 7.1.14. */
  const erf = (x) => {
    const z = Math.abs(x);
    if (z > 6) return Math.sign(x);
    const factor = Math.exp(-z * z) / Math.sqrt(Math.PI);
    let result;
    if (z <= 3) {
      let term = 2 * z;
      let total = term;
      for (let n = 1; term > total * 1e-17; n++) {
        term *= (2 * z * z) / (2 * n + 1);
        total += term;
      }
      result = factor * total;
    } else {
      let tail = z;
      for (let n = 60; n > 0; n--) tail = z + n / 2 / tail;
      result = 1 - factor / tail;
    }
    return x < 0 ? -result : result;
  };

  const sigmoid = (x) => 1 / (1 + Math.exp(-x));
  const gelu = (x) => (x * (1 + erf(x / Math.SQRT2))) / 2;
  const geluTanh = (x) =>
    (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2;
  const silu = (x) => x * sigmoid(x);
  const relu = (x) => Math.max(x, 0);

  /* One row of logits on its way to a draw, the likeliest first: the probabilities after the
     temperature (0 takes the largest logit), the sum `before` each that is left of the k likeliest,
     where p is compared with it, by what each is `cut`, and the probabilities after. 1 for p cuts
     nothing, whatever the rounding of the sums. */
  const sampler = (logits, { temperature, k, p }) => {
    const order = best(logits);
    const greedy = temperature === 0;
    const tempered = greedy
      ? order.map((_, rank) => Number(rank === 0))
      : softmax(order.map((i) => logits[i]), temperature);
    const left = sum(tempered.slice(0, k));
    const before = tempered.map((_, rank) =>
      greedy || rank >= k ? null : sum(tempered.slice(0, rank)) / left);
    const cut = before.map((mass, rank) => {
      if (greedy) return rank === 0 ? "" : "\u03c4";
      if (mass === null) return "k";
      return p < 1 && mass >= p ? "p" : "";
    });
    const kept = tempered.map((share, rank) => (cut[rank] ? 0 : share));
    return { order, tempered, before, cut, after: kept.map((share) => share / sum(kept)) };
  };

  /* In which of the pieces, laid end to end from 0, u falls. */
  const pieceOf = (shares, u) => {
    let end = 0;
    const at = shares.findIndex((share) => (end += share) >= u);
    return at < 0 ? shares.findLastIndex((share) => share > 0) : at; // the sum may fall short of 1
  };

  /* The i-th number of a generator (mulberry32), from 0 up to 1, with six decimals. */
  const uniform = (seed, i) => {
    const a = (seed + i * 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * 1e6) / 1e6;
  };

  /* All parameters of a GPT-2, by part; the number of heads does not matter. */
  const parameterCounts = ({ d, L, V, positions = 1024, tied = true }) => {
    const parts = {
      token_embedding: V * d,
      position_embedding: positions * d,
      attention: L * (4 * d * d + 4 * d),
      feedforward: L * (8 * d * d + 5 * d),
      layer_norm: (2 * L + 1) * 2 * d,
      unembedding: tied ? 0 : V * d,
    };
    return { ...parts, total: sum(Object.values(parts)) };
  };

  return {
    sum, mean, best, softmax, softmaxGradient, layerNorm, rmsNorm,
    erf, sigmoid, gelu, geluTanh, silu, relu, sampler, pieceOf, uniform, parameterCounts,
  };
})();
