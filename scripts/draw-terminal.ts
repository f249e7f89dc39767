/**
 * Draws what commands print into SVG files of docs/images, each a session at a simulator whose clock is paused:
 *
 *   node --import=tsx scripts/draw-terminal.ts [--check]
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programCommand, startSimulator } from '../test/support/process.ts';
import { deliver } from './generated.ts';

interface Line {
  readonly text: string;
  readonly isCommand: boolean;
}

/** Commands of each picture; one in brackets is run and not drawn. */
const sessions: Readonly<Record<string, readonly string[]>> = {
  'terminal-list': ['list scenarios'],
  'terminal-limit': ['get 701.W', 'limit 50 % --for 60', '[time step 10s]', 'get 701.W 701.InvSt', 'why'],
};

const [lineHeight, charWidth, margin, bar] = [20, 8.43, 16, 28];
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A window with the lines, in colours that stand out on a light and on a dark page. */
function drawn(lines: readonly Line[]): string {
  const width = Math.ceil(2 * margin + charWidth * Math.max(...lines.map(({ text }) => text.length)));
  const height = bar + 2 * margin + lineHeight * (lines.length - 1) + 8;
  const dots = ['#ff5f56', '#ffbd2e', '#27c93f'].map(
    (color, at) => `<circle cx="${margin + 18 * at}" cy="14" r="5.5" fill="${color}"/>`,
  );
  const rows = lines.map(({ text, isCommand }, at) => {
    const y = bar + margin + 4 + lineHeight * at;
    const words = isCommand ? `<tspan fill="#7ee787">$</tspan>${escaped(text.slice(1))}` : escaped(text);
    const color = isCommand ? '#ffffff' : '#c9d1d9';
    return `<text x="${margin}" y="${y}" fill="${color}" xml:space="preserve">${words}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"` +
      ` font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...dots,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

/** Runs a command line. @returns the command and its standard output, as a terminal shows them */
async function linesOf(line: string, httpPort: number): Promise<readonly Line[]> {
  const hidden = /^\[(.*)\]$/.exec(line)?.[1];
  const [program, ...args] = [...programCommand, ...(hidden ?? line).split(' ')];
  const env = { ...process.env, DERBENCH_URL: `http://127.0.0.1:${httpPort}`, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env,
  });
  if (hidden !== undefined) return [];
  const output = stdout.trimEnd().split('\n');
  return [`$ derbench ${line}`, ...output].map((text, at) => ({ text, isCommand: at === 0 }));
}

const simulator = await startSimulator(['--start_paused', 'yes']);
try {
  const pictures = new Map<string, string>();
  for (const [name, session] of Object.entries(sessions)) {
    const lines: Line[] = [];
    for (const line of session) lines.push(...(await linesOf(line, simulator.httpPort)));
    pictures.set(`docs/images/${name}.svg`, drawn(lines));
  }
  process.exitCode = deliver(pictures, process.argv.slice(2));
} finally {
  await simulator.stop();
}
