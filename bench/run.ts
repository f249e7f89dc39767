/**
 * `npm run bench [-- --only GROUP] [--rounds N] [--quick] [--no-build] [--json FILE]`: prints tables, asserts nothing.
 * The file holds the measured figure of each aim as `{ "group: name": number }`.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { attackersGroup } from './groups/attackers.ts';
import { csipXmlGroup } from './groups/csip-xml.ts';
import { csipGroup } from './groups/csip.ts';
import { dashboardGroup } from './groups/dashboard.ts';
import { dnp3Group } from './groups/dnp3.ts';
import { exchangeGroup } from './groups/exchange.ts';
import { fleetGroup } from './groups/fleet.ts';
import { functionsGroup } from './groups/functions.ts';
import { httpGroup } from './groups/http.ts';
import { kindsGroup } from './groups/kinds.ts';
import { largeGroup } from './groups/large.ts';
import { memoryGroup } from './groups/memory.ts';
import { messagesGroup } from './groups/messages.ts';
import { modbusGroup } from './groups/modbus.ts';
import { ocppGroup } from './groups/ocpp.ts';
import { scenarioGroup } from './groups/scenario.ts';
import { shardsGroup } from './groups/shards.ts';
import { siteGroup } from './groups/site.ts';
import { startGroup } from './groups/start.ts';
import { stateGroup } from './groups/state.ts';
import { streamGroup } from './groups/stream.ts';
import { tickGroup } from './groups/tick.ts';
import type { BenchOptions, Group } from './support/group.ts';
import { inCheckout } from './support/processes.ts';
import { formatTable, measuredAims } from './support/table.ts';

const groups: readonly Group[] = [
  modbusGroup,
  messagesGroup,
  tickGroup,
  scenarioGroup,
  kindsGroup,
  functionsGroup,
  siteGroup,
  memoryGroup,
  startGroup,
  stateGroup,
  fleetGroup,
  largeGroup,
  shardsGroup,
  attackersGroup,
  csipGroup,
  ocppGroup,
  dnp3Group,
  httpGroup,
  streamGroup,
  dashboardGroup,
  exchangeGroup,
  csipXmlGroup,
];
const names = groups.map(({ name }) => name);

interface Request extends BenchOptions {
  readonly groups: readonly Group[];
  readonly build: boolean;
  readonly jsonFile: string | undefined;
}

/** @throws Error that names the wrong argument */
function request(args: readonly string[]): Request {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'no-build': { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const only = values.only ?? names;
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`there is no group ${unknown}; groups are ${names.join(', ')}`);
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100)
    throw new Error('--rounds must be a whole number from 1 to 100');
  return {
    groups: groups.filter(({ name }) => only.includes(name)),
    rounds,
    quick: values.quick,
    build: !values['no-build'],
    jsonFile: values.json,
  };
}

const progress = (text: string) => {
  process.stderr.write(`${text}\n`);
};

async function main(): Promise<void> {
  const wanted = request(process.argv.slice(2));
  if (wanted.build) {
    for (const script of ['scripts/build.mjs', 'scripts/bundle-bench.mjs'])
      execFileSync(process.execPath, [inCheckout(script)], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const [cpu] = cpus();
  process.stdout.write(
    `Node ${process.version}, ${cpus().length} x ${cpu?.model ?? 'unknown processor'}, median of ` +
      `${wanted.rounds}${wanted.quick ? ', quick' : ''}\n\n`,
  );
  const figures: Record<string, number> = {};
  for (const group of wanted.groups) {
    for (const table of await group.run(wanted, progress)) {
      process.stdout.write(`${formatTable(table)}\n`);
      Object.assign(figures, measuredAims(table));
    }
  }
  if (wanted.jsonFile !== undefined) writeFileSync(wanted.jsonFile, JSON.stringify(figures, null, 1));
}

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
