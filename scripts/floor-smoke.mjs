/**
 * Starts the built program in the Node.js that runs this file, reads its health and a register, and stops it: the suite
 * runs on a newer version than the oldest that `engines` allows.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const limitMs = 20_000;
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const child = spawn(process.execPath, [program, '-wp', '0', '-p', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);

async function httpPort() {
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    const port = /^ *HTTP .*?:(\d+)[/ ]/m.exec(output)?.[1];
    if (port !== undefined && output.includes('nothing is kept')) return port;
  }
  throw new Error(`the program ended before it was ready\n${output}`);
}

async function get(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const exited = once(child, 'exit');
try {
  const base = `http://127.0.0.1:${await httpPort()}/api/sim`;
  child.stdout.resume();
  const health = await get(`${base}/health`);
  const nameplate = await get(`${base}/registers/1`);
  console.log(JSON.stringify({ node: process.versions.node, health, nameplate }).slice(0, 300));
} finally {
  child.kill('SIGTERM');
}
const [code] = await exited;
clearTimeout(limit);
if (code !== 0) throw new Error(`the program ended with ${code}`);
