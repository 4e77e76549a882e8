// SPDX-License-Identifier: MIT
//
// The page that computes: fields become a command line, a command line becomes what the program prints.
"use strict";

const LIMIT_MS = 10000;
const NO_START = "The page cannot start the program; open it through a web server, as in 'python3 -m http.server -d build-site'.";
const PAUSE_MS = 120; // after a key, before the program runs
const part = (id) => document.getElementById(id);

// The program in a worker. A command line that takes too long is ended with it, and the next one has a new one.
class Program {
  constructor() {
    this.last = 0;
    this.waiting = new Map();
  }

  start() {
    this.worker = new Worker("worker.js");
    this.worker.onmessage = ({ data }) => this.settle(data.id, data);
    this.worker.onerror = () => this.stop(NO_START);
  }

  settle(id, result) {
    const waits = this.waiting.get(id);
    this.waiting.delete(id);
    if (waits) {
      clearTimeout(waits.timer);
      waits.done(result);
    }
  }

  stop(failure) {
    this.worker.terminate();
    this.worker = null;
    for (const id of [...this.waiting.keys()])
      this.settle(id, { failure });
  }

  run(words, input = "") {
    try {
      if (!this.worker)
        this.start();
    } catch {
      return Promise.resolve({ failure: NO_START }); // a page of a file
    }
    const id = ++this.last;
    return new Promise((done) => {
      const timer = setTimeout(() => this.stop(`stopped after ${LIMIT_MS / 1000} s`), LIMIT_MS);
      this.waiting.set(id, { done, timer });
      this.worker.postMessage({ id, words, input });
    });
  }
}

// The words of a command line, as a shell divides it: blanks, quotes and backslashes. Null if a quote is open.
function wordsOf(line) {
  const words = [];
  let word = null, quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quote && c === quote) {
      quote = "";
    } else if (c === "\\" && quote !== "'" && i + 1 < line.length) {
      word = (word ?? "") + line[++i];
    } else if (quote) {
      word += c;
    } else if (c === "'" || c === '"') {
      quote = c;
      word ??= "";
    } else if (/\s/.test(c)) {
      if (word !== null)
        words.push(word);
      word = null;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (word !== null)
    words.push(word);
  return quote ? null : words;
}

const quoted = (word) => /^[\w@%+=:,./^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

const program = new Program();
let current = 0;

function show(result) {
  const shown = part("shown"), err = document.createElement("span");
  err.className = "err";
  err.textContent = result.err ?? "";
  shown.replaceChildren(result.out ?? "", err);
  const absent = result.absent ? "This page has no files and no devices: use the program on your machine for that." : "";
  part("note").textContent = result.failure ?? (absent || `exit status ${result.code}`);
}

async function run(line) {
  const mine = ++current;
  const words = wordsOf(line);
  if (!words)
    return show({ failure: "a quote is open" });
  const result = await program.run(words[0] === "dtinfo" ? words.slice(1) : words);
  if (mine === current)
    show(result);
}

function fromFields() {
  const round = part("round").value;
  part("command").value = ["cast", part("value").value.trim() || "0", part("dtype").value.trim() || "bf16"].map(quoted).join(" ") +
    (round ? ` --round ${round}` : "");
  run(part("command").value);
}

// "cast VALUE DTYPE [--round MODE]" is what the fields show; they keep what they have for other lines.
function intoFields(line) {
  const words = wordsOf(line) ?? [];
  if (words[0] !== "cast" || !(words.length === 3 || (words.length === 5 && words[3] === "--round")))
    return;
  [part("value").value, part("dtype").value, part("round").value] = [words[1], words[2], words[4] ?? ""];
}

function fromHash() {
  const line = decodeURIComponent(location.hash.slice(1));
  if (!line)
    return fromFields();
  part("command").value = line;
  intoFields(line);
  run(line);
}

let pause = 0;
function later(what) {
  clearTimeout(pause);
  pause = setTimeout(what, PAUSE_MS);
}

part("fields").addEventListener("input", () => later(fromFields));
part("line").addEventListener("input", () => later(() => {
  intoFields(part("command").value);
  run(part("command").value);
}));
for (const form of ["fields", "line"])
  part(form).addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", fromHash);

program.run(["list", "--json"]).then(({ out }) => {
  const names = out ? JSON.parse(out).dtypes.map((row) => row.dtype) : [];
  part("dtypes").replaceChildren(...names.map((name) => new Option(name)));
});
fromHash();
