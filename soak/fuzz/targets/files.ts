/** Files: configuration, profiles, tables, scenarios, recordings, journals of the state folder. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkRequest } from '../../../src/app/scenarios/checks.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import type { ConfigIo } from '../../../src/config/layers/files.ts';
import { systemIo } from '../../../src/config/layers/files.ts';
import { readDnp3Points } from '../../../src/contract/dnp3-points.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { parseGridProfile } from '../../../src/der/surroundings/grid/profile.ts';
import { parseVisits } from '../../../src/der/surroundings/visits.ts';
import { weatherTable } from '../../../src/der/surroundings/weather-files.ts';
import { parseSeries } from '../../../src/der/surroundings/series.ts';
import { readScenario } from '../../../src/scenario/file/read.ts';
import { sourceOfFile } from '../../../src/scenario/file/source.ts';
import { createFileStore } from '../../../src/state/file-store.ts';
import { journalFile } from '../../../src/state/journal.ts';
import { startApp } from '../../../test/support/running-app.ts';
import { TestFolder } from '../../../test/support/state-folder.ts';
import { HandTimers } from '../../../test/support/timers.ts';
import { HandWall } from '../../../test/support/wall.ts';
import { nothing, parserTarget, refusing } from '../target.ts';
import type { Target } from '../target.ts';

const configFolder = new URL('../../../config/', import.meta.url).pathname;

function textsOf(folder: string, extension: string, maxOctets = 20_000): readonly string[] {
  return readdirSync(join(configFolder, folder))
    .filter((name) => name.endsWith(extension))
    .map((name) => readFileSync(join(configFolder, folder, name), 'utf8'))
    .filter(({ length }) => length <= maxOctets);
}

/** Path of the file that is fuzzed. */
const fuzzed = (extension: string) => join(configFolder, 'examples', `fuzzed${extension}`);

const ioWith = (path: string, text: string): Partial<ConfigIo> => ({
  readFile: (name, maxBytes) => (name === path ? text : systemIo.readFile(name, maxBytes)),
  isFile: (name) => name === path || systemIo.isFile(name),
});

const load = (flags: readonly string[], extension: string) => (text: string) => {
  const path = fuzzed(extension);
  return loadConfig(
    flags.map((word) => (word === 'FILE' ? path : word)),
    {},
    ioWith(path, text),
  );
};

const profileFlags = (text: string) =>
  text.includes('evse:')
    ? ['--evse_profile', 'FILE']
    : [
        '-f',
        'FILE',
        '-d',
        text.includes('battery:') ? 'Batt-3Phase' : text.includes('wind:') ? 'Wind-T3-3Phase' : 'PV-3Phase',
      ];

const table = (header: string, ...rows: readonly string[]) => [header, ...rows, ''].join('\n');
const weatherColumns = [{ name: 'irradiance_w_m2', required: true, min: 0, max: 2000 }] as const;
const pvgis = table(
  'Longitude (decimal degrees):\t8.6',
  'time,G(i),H_sun,T2m,WS10m,Int',
  '20200101:0010,120,10,4.2,2.1,0',
);
const visitsTable = table(
  'time_s,connector,stay_s,soc_pct,target_soc_pct,battery_capacity_kwh,max_charge_kw',
  '28800,1,3600,20,80,60,11',
  '36000,1,1800,50,90,40,7.4',
);
const gridTable = table('time_s,voltage_pu,frequency_hz', '0,1,60', '10,0.9,59.8', '20,1,60');
const seriesTable = table('# comment', 'time_s,irradiance_w_m2', '0,0', '3600,500', '7200,1000');
const points = JSON.stringify({
  points: [
    { type: 'AI', index: 3001, name: 'Limit', min: 0, max: 1000, multiplier: 0.1, unit: '%', bind: 'AI149' },
    {
      type: 'AO',
      index: 3000,
      name: 'Limit',
      min: 0,
      max: 1000,
      multiplier: 0.1,
      unit: '%',
      bind: 'AO88',
      read_back: 'AI3001',
    },
  ],
});

const silent = { info: nothing, warning: nothing, error: nothing };

function storeOf(folder: TestFolder) {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  return createFileStore({ folder, log: silent, later: timers.later, nowMs: () => wall.nowMs() });
}

async function writtenJournal(): Promise<Buffer> {
  const folder = new TestFolder();
  const store = storeOf(folder);
  await store.open();
  await store.slot('ocpp/CP-1/queue').append({ a: 1, text: 'ä' }, [1, 2, null]);
  await store.slot('keeping/clock').replace([{ seconds: 1.5 }]);
  await store.slot('ocpp/CP-1/queue').append('third');
  await store.close();
  return folder.octets(journalFile);
}

/** A damaged journal never prevents the next start, and the store that comes of it keeps what is written next. */
const journal: Target = {
  name: 'journal',
  isText: true,
  samples: () => journalSamples,
  open: () => ({
    async feed(input) {
      const folder = new TestFolder();
      folder.put(journalFile, input);
      let store: ReturnType<typeof storeOf> | null = null;
      refusing(() => {
        store = storeOf(folder);
      });
      const opened = store as ReturnType<typeof storeOf> | null;
      if (opened === null) return;
      await opened.open();
      await opened.slot('fuzz/next').replace([{ written: true }]);
      await opened.close();
      const values = await storeOf(folder).slot('fuzz/next').read();
      if (JSON.stringify(values) !== '[{"written":true}]')
        throw new Error(`the next process reads ${JSON.stringify(values)}`);
    },
    async alive() {
      await createMemoryStore().slot('fuzz/alive').append(1);
    },
    close: nothing,
  }),
};
const journalSamples = [await writtenJournal()];

const scenario: Target = {
  name: 'scenario',
  isText: true,
  samples: () => textsOf('scenarios', '.yaml', 8000).map((text) => Buffer.from(text)),
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'derbench-fuzz-'));
    const { app } = await startApp(['PV-3Phase', 'Batt-3Phase', 'EVSE']);
    const path = join(folder, 'fuzzed.yaml');
    const read = (text: Buffer) => {
      writeFileSync(path, text);
      return readScenario(sourceOfFile(path), 'fuzzed', {}, checkRequest);
    };
    return {
      feed(input) {
        refusing(() => read(input));
      },
      alive() {
        read(Buffer.from('steps:\n  - at: 1\n    grid: { voltage_pu: 1 }\n'));
      },
      async close() {
        await app.stop();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

export const fileTargets: readonly Target[] = [
  parserTarget('config', () => textsOf('examples', '.yaml'), load(['--config', 'FILE'], '.yaml')),
  parserTarget(
    'profile',
    () => textsOf('profiles', '.yaml'),
    (text) => load(profileFlags(text), '.yaml')(text),
  ),
  parserTarget('faults-file', () => textsOf('faults', '.yaml'), load(['--faults', 'FILE'], '.yaml')),
  parserTarget('proxy-map', () => textsOf('proxy', '.json'), load(['--proxy', 'FILE'], '.json')),
  parserTarget('dnp3-points-file', () => [points], readDnp3Points),
  parserTarget(
    'series-csv',
    () => [seriesTable],
    (text) => parseSeries(text, { name: 'fuzzed', columns: weatherColumns, end: 'loop' }),
  ),
  parserTarget('weather-csv', () => [pvgis, seriesTable], weatherTable),
  parserTarget(
    'grid-csv',
    () => [gridTable],
    (text) => parseGridProfile(text, 'fuzzed'),
  ),
  parserTarget(
    'visits-csv',
    () => [visitsTable],
    (text) => parseVisits(text, 'fuzzed', 'loop'),
  ),
  scenario,
  journal,
];
