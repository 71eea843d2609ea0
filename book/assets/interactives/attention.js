/* Attention in words: pure functions, shared by the interactives that show weights. */
const TransformerAttention = (() => {
  const { fixed, quoted } = TransformerElement;
  const NAMED = 3; // positions that a sentence names at most,
  const WORTH = 0.03; // and the least weight that is worth its name

  const percent = (share) => `${fixed(100 * share, 0)}\u00a0%`;

  /* One row of weights as a sentence. weights: as many as position t sees, or more with 0. */
  const told = (words, weights, t) => {
    const name = `${quoted(words[t])} (position ${t})`;
    const seen = weights.slice(0, t + 1);
    if (t === 0) return `${name} sees nothing but itself, and gives itself all its weight.`;
    if (Math.max(...seen) - Math.min(...seen) < 1e-6)
      return `${name} gives the same weight, ${percent(seen[0])}, to each of the ${t + 1} positions that it sees.`;
    const named = seen
      .map((weight, s) => ({ weight, to: s === t ? "itself" : `${quoted(words[s])} (${s})` }))
      .sort((a, b) => b.weight - a.weight)
      .filter(({ weight }, i) => i < NAMED && weight >= WORTH);
    const parts = named.map(({ weight, to }, i) => `${percent(weight)}${i ? "" : " of its weight"} to ${to}`);
    if (named.length <= t) {
      const rest = 1 - TransformerMaths.sum(named.map(({ weight }) => weight));
      parts.push(`${rest < 0.005 ? "less than 1\u00a0%" : percent(rest)} to the rest`);
    }
    return `${name} gives ${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}.`;
  };

  return { percent, told };
})();
