// Numbers for people: few digits, a prefix where the unit has one.

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"]];

// Factor and name of the unit in which a size reads well: 0.0012 m is 1.2 mm.
export function unitFor(size, unit) {
  if (!unit || unit === "rad") return { factor: 1, name: unit };
  const [factor, prefix] = (size > 0 && PREFIXES.find(([f]) => size >= f)) || (size > 0 ? PREFIXES[PREFIXES.length - 1] : [1, ""]);
  return { factor, name: prefix + unit };
}

export function digits(value, count = 4) {
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : "\u2013";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(count - 2).replace("e+", "e").replace("-", "\u2212");
  return value.toPrecision(count).replace("-", "\u2212");
}

export function quantity(value, unit) {
  const { factor, name } = unitFor(Math.abs(value), unit);
  return `${digits(value / factor)}${name ? `\u202f${name}` : ""}`;
}

export function vector(values, unit) {
  const { factor, name } = unitFor(Math.max(...values.map(Math.abs)), unit);
  return `${values.map((value) => digits(value / factor)).join(", ")}${name ? `\u202f${name}` : ""}`;
}

// Round numbers from low to high, about `count` of them.
export function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
  const places = [];
  for (let k = Math.ceil(low / step - 1e-5); k * step <= high + 1e-5 * step; k++) places.push(k * step);
  return places;
}

export function short(value) {
  return String(Number(value.toPrecision(4))).replace("-", "\u2212");
}

// A time (s) with as many decimals as frames so far apart need.
export function timeStamp(time, apart) {
  const decimals = apart > 0 ? Math.min(Math.max(Math.ceil(-Math.log10(apart)) + 1, 0), 8) : 4;
  return `t = ${time.toFixed(decimals)}\u202fs`;
}
