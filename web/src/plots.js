// Light plots beside the scene: energy, sweeps, and how rigid the packing is.

import { short, ticks } from "./numbers.js";

const PLOTS = [
  { title: "kinetic energy (J)", column: (s) => s.kinetic_energy, log: true },
  { title: "sweeps per step", column: (s) => s.sweeps },
  { title: "rigidity: l_diff / L", column: reach, log: true, bands: [[2, "rigid"], [1, "transition"], [0, "soft"]] },
];

function reach(series) {
  return series.time.map((_, k) => (series.cluster[k] > 1 ? series.diffusion_length[k] / series.cluster_extent[k] : null));
}

export function verdict(series) {
  const all = reach(series), last = all[all.length - 1];
  if (last === undefined) return "";
  if (last === null || !Number.isFinite(last)) return "loose";
  return last >= 2 ? "rigid" : last >= 1 ? "transition" : "soft";
}

// place: holds one canvas per plot; now: time of the frame in view (s)
export function drawPlots(place, series, now) {
  const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
  PLOTS.forEach((plot, k) => {
    const canvas = place.children[k] || place.appendChild(document.createElement("canvas"));
    drawPlot(canvas, plot, series, now, { ink: ink("--ink"), soft: ink("--soft"), line: ink("--blue"), mark: ink("--accent"), grid: ink("--rule"), paper: ink("--paper") });
  });
}

function drawPlot(canvas, { title, column, log, bands }, series, now, paint) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !series.time) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  c.font = "11px system-ui, sans-serif";
  c.fillStyle = paint.ink;
  c.fillText(title, 4, 12);
  const box = { left: 42, right: width - 8, top: 20, bottom: height - 18 };
  const values = column(series).map((v) => (v === null || !Number.isFinite(v) || (log && v <= 0) ? NaN : log ? Math.log10(v) : v));
  const known = values.filter((v) => !Number.isNaN(v));
  if (!known.length) return;
  let low = log ? Math.min(...known) : 0, high = Math.max(...known);
  if (bands) [low, high] = [Math.min(low, -0.3), Math.max(high, 0.6)];
  if (high - low < 1e-9) high = low + 1;
  const start = series.time[0], end = Math.max(series.time[series.time.length - 1], start + 1e-12);
  const x = (t) => box.left + ((t - start) / (end - start)) * (box.right - box.left);
  const y = (v) => box.bottom - ((v - low) / (high - low)) * (box.bottom - box.top);
  const rule = (v, text) => {
    c.strokeStyle = paint.grid;
    c.beginPath();
    c.moveTo(box.left, y(v));
    c.lineTo(box.right, y(v));
    c.stroke();
    c.fillStyle = paint.soft;
    c.textAlign = "right";
    c.fillText(text, box.left - 5, y(v) + 4);
  };
  const span = high - low;
  if (bands) bands.filter(([v]) => v > 0).forEach(([v]) => rule(Math.log10(v), String(v)));
  else if (log) {
    const every = Math.max(1, Math.ceil(span / 3));
    for (let p = Math.ceil(low); p <= high; p += every) rule(p, `1e${p}`);
  } else ticks(low, high, 3).forEach((v) => rule(v, short(v)));
  c.textAlign = "left";
  c.fillStyle = paint.soft;
  c.fillText(`${short(start)} s`, box.left, height - 4);
  c.textAlign = "right";
  c.fillText(`${short(end)} s`, box.right, height - 4);
  c.textAlign = "left";
  c.strokeStyle = paint.line;
  c.lineWidth = 1.5;
  c.beginPath();
  let drawing = false;
  values.forEach((v, k) => {
    if (Number.isNaN(v)) drawing = false;
    else c[drawing ? "lineTo" : ((drawing = true), "moveTo")](x(series.time[k]), y(v));
  });
  c.stroke();
  if (bands) {
    c.lineWidth = 4;
    c.strokeStyle = paint.paper;
    c.fillStyle = paint.soft;
    bands.forEach(([v, word]) => {
      const place = v ? y(Math.log10(v)) - 4 : y(0) + 13;
      c.strokeText(word, box.left + 4, place);
      c.fillText(word, box.left + 4, place);
    });
    c.lineWidth = 1.5;
  }
  c.strokeStyle = paint.mark;
  c.beginPath();
  c.moveTo(x(now), box.top);
  c.lineTo(x(now), box.bottom);
  c.stroke();
}
