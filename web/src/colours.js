// Colour maps (safe for the colour-blind) and what a colour can stand for.

const MAPS = {
  viridis: "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725",
  plasma: "0d0887 41049d 6a00a8 8f0da4 b12a90 cc4778 e16462 f2844b fca636 fcce25 f0f921",
  cividis: "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838",
  twilight: "e2d9e2 b7c6cf 84a5c4 6880be 5d57a9 51287c 2f1436 5d1a3f 8e2c50 b3524d c58466 d2b7a4 e2d9e2",
  slip: "2f6fb2 6f86a6 9a9a9a cf8d4e f07f19",
  kinds: "4477aa ee7733 228833 ccbb44 66ccee aa3377 999933 332288 cc6677 44aa99",
  names: "4477aa ee6677 228833 ccbb44 66ccee aa3377 ee8866 44bb99 bbcc33 99ddff ffaabb 7768ae",
};
export const NAMES = 12, KINDS = 10;

// What colours can stand for: label, unit, map, how to find the values of a frame and their range.
export const QUANTITIES = {
  load: { label: "load", unit: "N", map: "viridis", values: (f) => f.load, zero: true },
  speed: { label: "speed", unit: "m/s", map: "plasma", values: (f) => lengths(f.velocity, f.n), zero: true },
  peculiar: { label: "speed about the flow of the cell", unit: "m/s", map: "plasma", values: peculiar, zero: true },
  rotation: { label: "angle turned", unit: "rad", map: "twilight", values: (f) => f.turn, range: [0, 2 * Math.PI] },
  radius: { label: "radius", unit: "m", map: "cividis", values: (f) => f.radius },
  contacts: { label: "contacts of a grain", unit: "", map: "viridis", values: (f) => f.number, zero: true, whole: true },
  status: { label: "share of contacts that slide", unit: "", map: "slip", values: slidingShare, range: [0, 1] },
  id: { label: "number of a grain (colours repeat)", unit: "", map: "names", values: (f) => f.id, names: true },
};

// Groups, materials, densities and scalars of the user, as the head of the page tells of them.
export function addSpecies(species) {
  for (const { name, kinds, rows, scalar, range, unit } of species || []) {
    const values = scalar ? (f) => f.scalars[name] : (f) => f[name];
    if (kinds) QUANTITIES[name] = { label: name, unit: "", map: "kinds", values: (f) => placed(values(f), rows), kinds };
    else if (range && range[1] > range[0]) QUANTITIES[name] = { label: name, unit: unit || "", map: "viridis", values, range, signed: true };
    else QUANTITIES[name] = { label: name, unit: unit || "", map: "viridis", values, signed: true };
  }
}

export function kindColour(k) {
  return `#${MAPS.kinds.split(" ")[k % KINDS]}`;
}

// (n,) place of each value among the rows, the nearest; -1 for none.
function placed(values, rows) {
  return Float32Array.from(values, (value) => {
    let best = -1;
    rows.forEach((row, k) => { if (best < 0 || Math.abs(row - value) < Math.abs(rows[best] - value)) best = k; });
    return value < 0 || !(Math.abs(rows[best] - value) <= 1e-3 * Math.abs(value)) ? -1 : best;
  });
}

// 256 colours as RGBA bytes.
export function table(name) {
  const anchors = MAPS[name].split(" ").map(rgb), rows = new Uint8Array(1024);
  for (let k = 0; k < 256; k++) {
    let colour;
    const steps = { names: NAMES, kinds: KINDS }[name];
    if (steps) colour = anchors[Math.min(steps - 1, Math.floor((k / 256) * steps))];
    else {
      const at = (k / 255) * (anchors.length - 1), i = Math.min(Math.floor(at), anchors.length - 2);
      colour = anchors[i].map((c, x) => Math.round(c + (at - i) * (anchors[i + 1][x] - c)));
    }
    rows.set([...colour, 255], 4 * k);
  }
  return rows;
}

// Ends of the scale: of the whole run where they are known, else of this frame.
export function rangeOf(name, values, known) {
  const quantity = QUANTITIES[name];
  if (quantity.range) return quantity.range;
  if (quantity.kinds) return [0, 1];
  const sorted = Float32Array.from(values).filter((value) => !Number.isNaN(value)).sort();
  if (!sorted.length) return [0, 1];
  if (quantity.signed) return sorted[sorted.length - 1] > sorted[0] ? [sorted[0], sorted[sorted.length - 1]] : [sorted[0] - 0.5, sorted[0] + 0.5];
  let low = quantity.zero ? 0 : sorted[0], high = known || sorted[Math.floor(0.98 * (sorted.length - 1))] || sorted[sorted.length - 1];
  if (quantity.whole) high = Math.max(sorted[sorted.length - 1], 1);
  if (name === "radius") high = sorted[sorted.length - 1];
  if (!(high > low)) [low, high] = low > 0 ? [0, low] : [0, 1];
  return [low, high];
}

// (n,) places in the colour map; negative where there is no value.
export function tones(name, values, [low, high]) {
  const places = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const { names, kinds, signed } = QUANTITIES[name];
    if (names) places[i] = ((values[i] % NAMES) + 0.5) / NAMES;
    else if (kinds) places[i] = values[i] < 0 ? -1 : ((values[i] % KINDS) + 0.5) / KINDS;
    else places[i] = (signed ? Number.isNaN(values[i]) : values[i] < 0) ? -1 : Math.min(Math.max((values[i] - low) / (high - low), 0.002), 0.998);
  }
  return places;
}

export function lengths(vectors, n) {
  const values = new Float32Array(n);
  for (let i = 0; i < n; i++) values[i] = Math.hypot(vectors[3 * i], vectors[3 * i + 1], vectors[3 * i + 2]);
  return values;
}

function peculiar(frame) {
  const { cell, position, velocity, origin, n } = frame;
  if (!cell) return lengths(velocity, n);
  const values = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const at = [0, 1, 2].map((x) => position[3 * i + x] + origin[x] - cell.origin[x]);
    const c = cell.rate.map((row, x) => velocity[3 * i + x] - row[0] * at[0] - row[1] * at[1] - row[2] * at[2]);
    values[i] = Math.hypot(...c);
  }
  return values;
}

function slidingShare(frame) {
  const all = new Float32Array(frame.n), sliding = new Float32Array(frame.n), { contacts } = frame;
  if (contacts) {
    for (let c = 0; c < contacts.count; c++) {
      for (const body of [contacts.a[c], contacts.b[c]]) {
        if (body >= frame.n) continue;
        all[body]++;
        if (contacts.status[c] === 2) sliding[body]++;
      }
    }
  }
  return all.map((count, i) => (count ? sliding[i] / count : -1));
}

function rgb(hex) {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}
