// SPDX-License-Identifier: MIT
//
// Runs the program, compiled to WebAssembly, once: its words, its environment and standard input go in, what it
// printed and its exit code come out. The part of WASI that it needs: no files, no folders, a clock.
"use strict";

const WASI = { BADF: 8, NOENT: 44, NOSYS: 52, SPIPE: 70, DIRECTORY: 3, REGULAR_FILE: 4 };
const FOLDER = 3; // a folder "/" without files: a file that is named does not exist

class Exit {
  constructor(code) { this.code = code; }
}

// What the page cannot do: the name of the function that would have done it.
class Absent {
  constructor(name) { this.name = name; }
}

class Process {
  constructor(words, input) {
    const encoder = new TextEncoder();
    this.words = words.map((word) => encoder.encode(word + "\0"));
    this.input = encoder.encode(input);
    this.read = 0;
    this.written = [[], [], []];
  }

  view() { return new DataView(this.memory.buffer); }

  bytes(at, size) { return new Uint8Array(this.memory.buffer, at, size); }

  // Pieces of memory that a call names: [address, size] each.
  pieces(list, count) {
    const view = this.view();
    return Array.from({ length: count }, (_, i) => [view.getUint32(list + 8 * i, true), view.getUint32(list + 8 * i + 4, true)]);
  }

  put32(at, value) {
    this.view().setUint32(at, value, true);
    return 0;
  }

  put64(at, value) {
    this.view().setBigUint64(at, BigInt(value), true);
    return 0;
  }

  args_sizes_get(count, size) {
    this.put32(count, this.words.length);
    return this.put32(size, this.words.reduce((sum, word) => sum + word.length, 0));
  }

  args_get(list, text) {
    for (const word of this.words) {
      this.put32(list, text);
      this.bytes(text, word.length).set(word);
      list += 4;
      text += word.length;
    }
    return 0;
  }

  environ_sizes_get(count, size) {
    this.put32(count, 0);
    return this.put32(size, 0);
  }

  environ_get() { return 0; }

  clock_time_get(id, precision, ret) { return this.put64(ret, Math.round(performance.now() * 1e6)); }

  fd_write(fd, list, count, ret) {
    if (fd !== 1 && fd !== 2)
      return WASI.BADF;
    let total = 0;
    for (const [at, size] of this.pieces(list, count)) {
      this.written[fd].push(this.bytes(at, size).slice());
      total += size;
    }
    return this.put32(ret, total);
  }

  fd_read(fd, list, count, ret) {
    if (fd !== 0)
      return WASI.BADF;
    let total = 0;
    for (const [at, size] of this.pieces(list, count)) {
      const part = this.input.subarray(this.read, this.read + size);
      this.bytes(at, part.length).set(part);
      this.read += part.length;
      total += part.length;
    }
    return this.put32(ret, total);
  }

  // The three streams are no terminals: what the program prints does not depend on a width.
  fd_fdstat_get(fd, ret) {
    if (fd > FOLDER)
      return WASI.BADF;
    this.bytes(ret, 24).fill(0);
    this.bytes(ret, 1)[0] = fd === FOLDER ? WASI.DIRECTORY : WASI.REGULAR_FILE;
    this.put64(ret + 16, (1n << 29n) - 1n); // all rights, for it and what it holds
    return this.put64(ret + 8, (1n << 29n) - 1n);
  }

  fd_close(fd) { return fd > 2 ? WASI.BADF : 0; }

  fd_seek(fd) { return fd > 2 ? WASI.BADF : WASI.SPIPE; }

  fd_prestat_get(fd, ret) {
    if (fd !== FOLDER)
      return WASI.BADF;
    this.put32(ret, 0);
    return this.put32(ret + 4, 1);
  }

  fd_prestat_dir_name(fd, at) {
    this.bytes(at, 1)[0] = "/".charCodeAt(0);
    return 0;
  }

  proc_exit(code) { throw new Exit(code); }

  text(fd) {
    const pieces = this.written[fd];
    const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return new TextDecoder().decode(all);
  }
}

// The functions that a module imports: those above, "no such thing" for the rest of WASI, and an end for the rest.
function importsOf(module, process) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    if (from !== "wasi_snapshot_preview1")
      imports[from][name] = () => { throw new Absent(name); };
    else
      imports[from][name] = process[name] ? process[name].bind(process) : () => name.startsWith("path_") ? WASI.NOENT : WASI.NOSYS;
  }
  return imports;
}

// Returns {code, out, err}; absent: what the page cannot do, if that ended it.
function run(module, words, input = "") {
  const process = new Process(["dtinfo", ...words], input);
  const result = { code: 0, absent: null };
  const instance = new WebAssembly.Instance(module, importsOf(module, process));
  process.memory = instance.exports.memory;
  try {
    instance.exports._start();
  } catch (error) {
    if (error instanceof Exit)
      result.code = error.code;
    else if (error instanceof Absent)
      result.absent = error.name;
    else
      throw error;
  }
  return { ...result, out: process.text(1), err: process.text(2) };
}

globalThis.dtinfoRun = run;
