/**
 * `npm run soak [-- --minutes N] [--chaos | --kills N] [--seed S] [--devices N] [--json FILE]`: runs the built simulator under
 * load, prints its figures, and ends with 1 and the reasons where one is out of its bounds. See soak/README.md.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { inCheckout } from '../bench/support/processes.ts';
import { fromBuild } from './fleet.ts';
import { figureTable, isMet, reasons } from './figures.ts';
import { kills } from './kills.ts';
import { soakOptions } from './options.ts';
import type { SoakOptions } from './options.ts';
import { soak } from './soak.ts';
import type { SoakResult } from './soak.ts';
import { textOf } from './tally.ts';

const progressEvery = 10;

const begin = performance.now();
const progress = (text: string) => {
  process.stderr.write(`${String(Math.round((performance.now() - begin) / 1000)).padStart(5)} s  ${text}\n`);
};

function titleOf({ seconds, seed, devices, chaos, kills: count }: SoakOptions): string {
  const what = count === null ? `${Math.round(seconds)} s${chaos ? ' with chaos' : ''}` : `${count} kills`;
  return `soak: ${what}, ${devices} devices, seed ${seed}, Node ${process.version}`;
}

async function resultOf(options: SoakOptions): Promise<SoakResult> {
  const { kills: count } = options;
  if (count === null) return soak(options, progress);
  const figures = await kills({ ...options, kills: count, command: fromBuild }, (killed) => {
    if (killed % progressEvery === 0) progress(`${killed} of ${count} kills`);
  });
  return { figures, samples: [] };
}

async function main(): Promise<void> {
  const options = soakOptions(process.argv.slice(2));
  if (options.build)
    execFileSync(process.execPath, [inCheckout('scripts/build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const { figures, samples } = await resultOf(options);
  process.stdout.write(`${figureTable(titleOf(options), figures)}\n`);
  if (options.jsonFile !== null) {
    const content = {
      title: titleOf(options),
      figures: figures.map((each) => ({ ...each, met: isMet(each) })),
      samples,
    };
    writeFileSync(options.jsonFile, JSON.stringify(content, null, 1));
  }
  const failed = reasons(figures);
  if (failed.length > 0) {
    process.stdout.write(`failed; repeat with: npm run soak -- ${process.argv.slice(2).join(' ')}\n`);
    for (const line of failed) process.stdout.write(`  ${line}\n`);
  }
  process.exit(failed.length > 0 ? 1 : 0);
}

main().catch((error: unknown) => {
  process.stderr.write(`soak: ${textOf(error)}\n`);
  process.exit(2);
});
