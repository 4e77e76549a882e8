// SPDX-License-Identifier: MIT
//
// Runs command lines away from the page, so that it never stands still: {id, words, input} comes in, {id, ...result} goes out.
"use strict";

importScripts("wasi.js");

const loaded = fetch("dtinfo.wasm").then((answer) => {
  if (!answer.ok)
    throw new Error(`dtinfo.wasm: ${answer.status}`);
  return answer.arrayBuffer();
}).then((bytes) => WebAssembly.compile(bytes));

onmessage = async ({ data: { id, words, input } }) => {
  try {
    postMessage({ id, ...dtinfoRun(await loaded, words, input) });
  } catch (error) {
    postMessage({ id, failure: String(error) });
  }
};
