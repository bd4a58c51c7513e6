// The page: reads its head, finds its frames and wires the controls.

import { sceneBox } from "./box.js";
import { grainData, showCard } from "./card.js";
import { QUANTITIES, addSpecies, rangeOf, table, tones } from "./colours.js";
import { fillHelp, listen } from "./keys.js";
import { showForceLegend, showLegend } from "./legend.js";
import { LiveSource } from "./live_source.js";
import { timeStamp } from "./numbers.js";
import { PageSource } from "./page_source.js";
import { savePicture } from "./picture.js";
import { Player } from "./player.js";
import { drawPlots, verdict } from "./plots.js";
import { Stage } from "./stage.js";

const $ = (id) => document.getElementById(id);
const CODEC = 2; // of frames: 2 knows shapes
const COVER = { solid: 1, faint: 0.35, hidden: 0 };

class Page {
  constructor(head) {
    this.head = head;
    this.flat = head.dimension === 2;
    this.picked = null; // id of a grain
    this.source = head.live ? new LiveSource(head) : new PageSource(head);
    if ((head.codec || 1) > CODEC) throw new Error("it was written by a newer rigidgrains; write it again with this one");
    this.stage = new Stage($("stage"), head.dimension, head.gravity, head.shapes);
    document.body.classList.toggle("live", Boolean(head.live));
    addSpecies(head.species);
    for (const name of Object.keys(QUANTITIES)) if (name !== "peculiar") $("colour").append(new Option(name));
    this.told = head.colour in QUANTITIES; // by the scene
    $("colour").value = this.told ? head.colour : head.live ? "speed" : "load";
    if (!head.contacts) for (const id of ["forces", "slip", "threshold"]) $(id).disabled = true;
    $("threshold").value = this.flat ? 0 : 1;
    if (head.scales && head.scales.share) $("note").textContent = `To keep this page small, contacts below ${head.scales.share} times the mean force were left out.`;
    this.theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.player = new Player(this.source, (frame) => this.show(frame));
    this.wire();
    // An address that ends with #play is that of a page within another one: it begins by itself.
    const begins = location.hash === "#play" && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.stage.grains.load().then(() => (head.live ? this.connect() : this.player.go(0).then(() => begins && this.player.toggle())));
  }

  wire() {
    for (const id of ["colour", "scale", "slip", "grains", "threshold"]) $(id).oninput = () => this.refresh();
    $("forces").onchange = () => {
      if ($("grains").value !== "hidden") $("grains").value = $("forces").checked ? "faint" : "solid";
      this.refresh();
    };
    $("walls").onchange = () => this.refresh();
    const flip = (id) => { if (!$(id).disabled) { $(id).checked = !$(id).checked; $(id).dispatchEvent(new Event("change")); } };
    $("slip").onchange = () => this.refresh();
    $("plots-on").onchange = () => { document.body.classList.toggle("plots", $("plots-on").checked); this.refresh(); };
    const next = (id) => { $(id).selectedIndex = ($(id).selectedIndex + 1) % $(id).options.length; this.refresh(); };
    const help = () => ($("help").open ? $("help").close() : $("help").showModal());
    const menu = () => document.body.classList.toggle("menu");
    const actions = {
      " ": () => this.player.toggle(), ArrowLeft: () => this.player.go(this.player.index - 1),
      ArrowRight: () => this.player.go(this.player.index + 1), Home: () => this.player.go(0), End: () => this.player.go(this.source.count - 1),
      c: () => next("colour"), g: () => next("grains"), f: () => flip("forces"), s: () => flip("slip"), w: () => flip("walls"), l: () => flip("plots-on"),
      r: () => this.home(), p: () => this.save(), t: () => this.theme(), m: menu, "?": help,
      Escape: () => ($("help").open ? $("help").close() : this.choose(null)),
    };
    listen(actions);
    fillHelp($("keys"));
    $("help-open").onclick = help;
    $("help-close").onclick = help;
    $("theme").onclick = () => this.theme();
    $("menu").onclick = menu;
    $("home").onclick = () => this.home();
    $("picture").onclick = () => this.save();
    $("card-close").onclick = () => this.choose(null);
    this.watchPointer();
    if (this.head.live || innerWidth > 900) document.body.classList.add("menu");
    if (this.head.live) flip("plots-on");
    addEventListener("resize", () => this.plots());
  }

  // A press that does not move picks a grain.
  watchPointer() {
    const canvas = this.stage.renderer.domElement;
    let from = null;
    canvas.addEventListener("pointerdown", (event) => (from = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => {
      if (!from || !this.frame || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4) return;
      const box = canvas.getBoundingClientRect();
      const i = this.stage.pick(event.clientX - box.left, event.clientY - box.top, this.frame);
      this.choose(i < 0 ? null : this.frame.id[i]);
    });
  }

  connect() {
    const state = $("state"), pause = $("pause"), stop = $("stop");
    pause.onclick = () => this.source.say({ do: this.source.state === "paused" ? "resume" : "pause" });
    stop.onclick = () => this.source.say({ do: "stop" });
    document.body.classList.toggle("run", this.source.controls);
    this.source.connect(() => { this.player.grown(); this.plots(); }, (word) => {
      state.textContent = { running: "live", paused: "paused", ended: "ended", lost: "connection lost" }[word] || word;
      state.dataset.state = word;
      pause.textContent = word === "paused" ? "go on" : "pause";
      pause.disabled = stop.disabled = word === "ended" || word === "lost";
    });
  }

  show(frame) {
    const first = !this.frame;
    this.frame = frame;
    if (first) {
      const { low, high } = sceneBox(this.head, frame);
      this.stage.setBox(low, high);
      this.home();
      if (!this.head.live && !this.told && !frame.load.some((load) => load > 0)) $("colour").value = "radius"; // nothing carries yet
      if (frame.cell && frame.cell.flows) $("colour").add(new Option("peculiar"), 2);
      document.body.classList.add("ready");
    }
    this.refresh();
  }

  refresh() {
    const { frame, stage } = this;
    if (!frame) return;
    const name = $("colour").value, values = QUANTITIES[name].values(frame);
    const known = $("scale").value === "run" ? (this.head.ranges || {})[name] : 0;
    const range = rangeOf(name, values, known);
    stage.grains.paint(table(QUANTITIES[name].map));
    stage.grains.show(frame, tones(name, values, range));
    this.cover($("grains").value);
    stage.walls.group.visible = $("walls").checked;
    stage.walls.show(frame, stage.low, stage.high);
    this.forces(frame);
    const index = this.picked === null ? -1 : frame.id.indexOf(this.picked);
    stage.grains.choose(index);
    showCard($("card"), frame, index, this.flat, this.head.scales, this.head.shapes);
    showLegend($("legend"), name, range);
    this.stamp = timeStamp(frame.time, this.head.live ? 0 : this.source.times[1] - this.source.times[0]);
    $("stamp").textContent = this.stamp;
    $("facts").textContent = `step ${frame.step.toLocaleString("en")} \u00b7 ${frame.n.toLocaleString("en")} grains`;
    this.plots();
    stage.drawNow();
  }

  cover(word) {
    const { uniforms, group } = this.stage.grains;
    group.visible = word !== "hidden";
    uniforms.opacity.value = this.flat ? COVER[word] : 1;
    uniforms.size.value = this.flat ? 1 : COVER[word] || 1;
  }

  forces(frame) {
    const on = $("forces").checked && frame.contacts && frame.contacts.count > 0;
    this.stage.bars.mesh.visible = Boolean(on);
    let strong = 0, drawn = 0;
    if (on) {
      const few = Math.max(1, Math.floor(frame.contacts.count / 20000));
      const sorted = frame.contacts.force.filter((_, c) => c % few === 0).sort();
      const mean = frame.contacts.force.reduce((sum, f) => sum + f, 0) / frame.contacts.count;
      strong = sorted[Math.floor(0.995 * (sorted.length - 1))];
      const radius = frame.radius.reduce((sum, r) => sum + r, 0) / frame.n;
      drawn = this.stage.bars.show(frame, Number($("threshold").value) * mean, strong, radius);
      const { sticking, sliding } = this.stage.bars.uniforms;
      sticking.value.set(this.ink($("slip").checked ? "--stick" : "--force"));
      sliding.value.set(this.ink($("slip").checked ? "--slide" : "--force"));
    }
    $("threshold-text").textContent = Number($("threshold").value) ? `above ${$("threshold").value} \u00d7 mean` : "all";
    document.body.classList.toggle("forces", Boolean($("forces").checked));
    const split = `linear-gradient(90deg, ${this.ink("--stick")} 50%, ${this.ink("--slide")} 50%)`;
    $("force-legend").firstElementChild.style.background = $("slip").checked ? split : this.ink("--force");
    $("slip-key").hidden = !$("slip").checked;
    showForceLegend($("force-legend"), strong, drawn, on);
  }

  plots() {
    const open = document.body.classList.contains("plots");
    if (this.head.live && this.source.series.time.length) $("verdict").textContent = verdict(this.source.series);
    if (open && this.frame) drawPlots($("plots"), this.source.series, this.frame.time);
  }

  choose(id) {
    this.picked = id;
    this.refresh();
  }

  // Leave room for what lies over the scene.
  home() {
    const wide = innerWidth > 700, menu = document.body.classList.contains("menu") && wide;
    const side = document.body.classList.contains("plots") && wide;
    this.stage.home({ left: side ? 300 : 0, right: menu ? 270 : 0, top: 64, bottom: wide ? 90 : 150 });
  }

  theme(word) {
    const root = document.documentElement;
    root.dataset.theme = word || (root.dataset.theme === "dark" ? "light" : "dark");
    this.stage.renderer.setClearColor(this.ink("--paper"));
    const { none, accent } = this.stage.grains.uniforms;
    none.value.set(this.ink("--none"));
    accent.value.set(this.ink("--accent"));
    this.stage.walls.repaint(this.ink("--wall"));
    this.refresh();
  }

  ink(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  save() {
    savePicture(this.stage, this.head.title, this.stamp || "", $("legend"));
  }
}

function start() {
  const complain = (problem) => {
    $("problem").textContent = `This page cannot be shown: ${problem.message || problem}`;
    $("problem").hidden = false;
  };
  if (typeof DecompressionStream === "undefined") return complain("this browser is too old; use one from 2023 or later");
  try {
    const page = new Page(JSON.parse($("head").textContent));
    // For scripts and tests: view.go(n), view.place(id), view.grain(id), view.camera().
    window.view = {
      go: (index) => page.player.go(index),
      place: (id) => page.stage.project([0, 1, 2].map((x) => page.frame.position[3 * page.frame.id.indexOf(id) + x])),
      grain: (id) => grainData(page.frame, page.frame.id.indexOf(id)),
      camera: () => {
        const { camera } = page.stage;
        camera.updateMatrixWorld();
        return { origin: page.frame.origin, matrix: camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse).toArray(), ...page.stage.size() };
      },
      get index() { return page.player.index; },
      get frame() { return page.frame; },
      get source() { return page.source; },
    };
  } catch (problem) {
    complain(problem);
    console.error(problem);
  }
  return null;
}

start();
