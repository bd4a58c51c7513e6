// The card of a grain that was picked.

import { digits, quantity, vector } from "./numbers.js";

export function grainData(frame, i) {
  const at = (rows) => [0, 1, 2].map((x) => rows[3 * i + x]);
  const contacts = { sticking: 0, sliding: 0 };
  for (let c = 0; frame.contacts && c < frame.contacts.count; c++) {
    if (frame.contacts.a[c] !== i && frame.contacts.b[c] !== i) continue;
    contacts[frame.contacts.status[c] === 2 ? "sliding" : "sticking"]++;
  }
  return {
    id: frame.id[i], position: at(frame.position).map((x, k) => x + frame.origin[k]), radius: frame.radius[i],
    velocity: at(frame.velocity), spin: at(frame.spin), turn: frame.turn[i], load: frame.load[i], number: frame.number[i], ...contacts,
  };
}

// scales: how finely the page keeps its numbers; shapes: of the head of the page
export function showCard(place, frame, i, flat, scales = {}, shapes = null) {
  place.hidden = i < 0;
  if (i < 0) return;
  const grain = grainData(frame, i), two = (v) => (flat ? v.slice(0, 2) : v);
  const split = frame.contacts ? ` (${grain.sticking} stick, ${grain.sliding} slide)` : "";
  const rough = scales.levels < 100;
  const spin = flat ? grain.spin.slice(2) : scales.ways === false ? grain.spin.slice(0, 1) : grain.spin;
  const rows = {
    ...(frame.shape && shapes ? { shape: shapes[frame.shape[i]].name } : {}),
    position: vector(two(grain.position), "m"), radius: quantity(grain.radius, "m"),
    velocity: vector(two(grain.velocity), "m/s"), speed: quantity(Math.hypot(...grain.velocity), "m/s"),
    spin: `${spin.map((w) => digits(w)).join(", ")}\u202frad/s`,
    load: quantity(grain.load, "N"), contacts: `${grain.number}${split}`,
  };
  place.querySelector("h2").textContent = `grain ${grain.id}`;
  place.querySelector("dl").replaceChildren(
    ...Object.entries(rows).flatMap(([name, text]) => {
      const [term, told] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      told.textContent = rough && !["shape", "position", "radius", "contacts"].includes(name) ? `\u2248 ${text}` : text;
      told.dataset.name = name;
      return [term, told];
    }),
  );
}
