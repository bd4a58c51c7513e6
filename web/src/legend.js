// The legend: colour bar with units, and what the bars of forces mean.

import { QUANTITIES, kindColour, table } from "./colours.js";
import { quantity, short, ticks, unitFor } from "./numbers.js";

const MOST = 12; // names in a legend

export function showLegend(place, name, [low, high]) {
  const { label, unit, map, names, kinds } = QUANTITIES[name];
  const scale = unitFor(Math.max(Math.abs(low), Math.abs(high)), unit);
  place.querySelector(".label").textContent = scale.name ? `${label} (${scale.name})` : label;
  const canvas = place.querySelector("canvas"), context = canvas.getContext("2d");
  canvas.width = 256;
  canvas.height = 1;
  context.putImageData(new ImageData(new Uint8ClampedArray(table(map)), 256, 1), 0, 0);
  const row = place.querySelector(".ticks");
  row.replaceChildren();
  canvas.hidden = Boolean(kinds);
  showKinds(place.querySelector(".kinds"), kinds || []);
  if (names || kinds) return;
  for (const value of ticks(low / scale.factor, high / scale.factor, 4)) {
    const tick = document.createElement("span");
    tick.textContent = short(value);
    tick.style.left = `${(100 * (value * scale.factor - low)) / (high - low)}%`;
    row.append(tick);
  }
}

// A swatch and a name for each kind of grains.
function showKinds(place, kinds) {
  const told = kinds.slice(0, MOST).map((name, k) => {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = kindColour(k);
    item.append(swatch, name);
    return item;
  });
  if (kinds.length > MOST) told.push(`and ${kinds.length - MOST} more`);
  place.replaceChildren(...told);
}

export function showForceLegend(place, strong, drawn, shown) {
  place.hidden = !shown;
  if (shown) place.querySelector(".strong").textContent = `widest ${quantity(strong, "N")}, ${drawn.toLocaleString("en")} drawn`;
}

