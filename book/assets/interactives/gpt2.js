/* The forward pass of a small GPT-2: pure functions of arrays, so that tests can compare every stage
   with PyTorch. The stages have the names of autograder.example: X0, ln_1_0, Q_0, ..., probs. */
const TransformerGPT2 = (() => {
  const { sum, softmax, layerNorm, geluTanh } = TransformerMaths;

  const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
  const addVectors = (a, b) => a.map((x, i) => x + b[i]);
  const add = (A, B) => A.map((row, t) => addVectors(row, B[t]));
  const transpose = (A) => A[0].map((_, j) => A.map((row) => row[j]));
  const matmul = (A, B) => {
    const columns = transpose(B);
    return A.map((row) => columns.map((column) => dot(row, column)));
  };
  const linear = (X, W, b) => matmul(X, W).map((row) => addVectors(row, b));
  const normalise = (X, gamma, beta) =>
    X.map((x) => layerNorm(x).normalised.map((z, i) => gamma[i] * z + beta[i]));
  const length = (x) => Math.sqrt(dot(x, x));

  /* Columns h d_k to (h + 1) d_k - 1 of each row belong to head h. */
  const split = (X, heads) => {
    const size = X[0].length / heads;
    return Array.from({ length: heads }, (_, h) => X.map((x) => x.slice(h * size, (h + 1) * size)));
  };

  /* All heads of one layer: scores, weights, outputs, and what each writes to the stream. */
  const attention = (read, p, heads, causal) => {
    const [Q, K, V] = ["Q", "K", "V"].map((n) => split(linear(read, p[`W_${n}`], p[`b_${n}`]), heads));
    const root = Math.sqrt(Q[0][0].length);
    const S = Q.map((q, h) =>
      matmul(q, transpose(K[h])).map((row, t) =>
        row.map((fit, s) => (causal && s > t ? -Infinity : fit / root))));
    const A = S.map((scores) => scores.map((row) => softmax(row)));
    const outputs = A.map((weights, h) => matmul(weights, V[h]));
    const size = outputs[0][0].length;
    const writes = outputs.map((o, h) => matmul(o, p.W_O.slice(h * size, (h + 1) * size)));
    return { Q, K, V, S, A, heads: outputs, writes, attn: writes.reduce(add).map((x) => addVectors(x, p.b_O)) };
  };

  /* The parameters below a prefix: below("blocks.0.attn.").W_Q. */
  const below = (weights) => (prefix) =>
    Object.fromEntries(
      Object.entries(weights)
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, value]) => [name.slice(prefix.length), value]));

  /* From ids to probabilities. model: the config and weights of a GPT2's state_dict. */
  const forward = ({ config, weights }, ids, { causal = true } = {}) => {
    const part = below(weights);
    const out = { tokens: ids.map((id) => weights.E[id]), places: weights.P.slice(0, ids.length) };
    out.X0 = add(out.tokens, out.places);
    for (let l = 0; l < config.n_layer; l++) {
      const stage = {};
      const [ln_1, ln_2, ffn] = ["ln_1", "ln_2", "ffn"].map((name) => part(`blocks.${l}.${name}.`));
      stage.ln_1 = normalise(out[`X${l}`], ln_1.gamma, ln_1.beta);
      Object.assign(stage, attention(stage.ln_1, part(`blocks.${l}.attn.`), config.n_head, causal));
      stage.mid = add(out[`X${l}`], stage.attn);
      stage.ln_2 = normalise(stage.mid, ln_2.gamma, ln_2.beta);
      stage.up = linear(stage.ln_2, ffn.W_up, ffn.b_up);
      stage.act = stage.up.map((row) => row.map(geluTanh));
      stage.ffn = linear(stage.act, ffn.W_down, ffn.b_down);
      for (const [name, value] of Object.entries(stage)) out[`${name}_${l}`] = value;
      out[`X${l + 1}`] = add(stage.mid, stage.ffn);
    }
    out.ln_f = normalise(out[`X${config.n_layer}`], weights["ln_f.gamma"], weights["ln_f.beta"]);
    out.logits = matmul(out.ln_f, transpose(weights.E));
    out.probs = out.logits.map((row) => softmax(row));
    return out;
  };

  return { forward, length };
})();
