/** The clients for scripts as others use them: types under a strict compiler, the file for Python, the page about both. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { wholeDescription } from '../../src/api/description/whole.ts';
import { packageFile } from '../../src/core/package-files.ts';
import { programCommand } from '../support/process.ts';
import { blocksOf, pasted } from './support/documents.ts';
import { describeWith, python } from './support/peers.ts';

const page = 'docs/how-to/test-your-head-end.md';
const command = programCommand.join(' ');
const pythonEnvironment = { ...process.env, PYTHONPATH: packageFile('clients/python'), PYTHONDONTWRITEBYTECODE: '1' };

const fromPython = (text: string) =>
  text.replaceAll('Simulator(', `Simulator(command=${JSON.stringify(programCommand)}, `);

/** A program of a user: `@ts-expect-error` marks what the compiler must refuse. */
const consumer = `
import { Client, createSimulator, DerbenchError } from 'derbench';
import type { Overview, Simulator } from 'derbench';

export async function use(): Promise<void> {
  await using sim: Simulator = await createSimulator({ devices: [{ device_type: 'Batt' }], tick: 1, csip_poll_rate_s: 3 });
  const client: Client = sim.client;
  const overview: Overview = await client.get('overview');
  const watts: number = await client.until('701.W', (value, word) => value < 3 && word !== '', { timeoutS: 30 });
  const word: string = await client.until('701.InvSt', 'RUNNING');
  const other: { x: number } = await client.get('wind/power-curve');
  const [first] = await client.messages('modbus', { limit: watts });
  try {
    await client.write(704, { WMaxLimPct: overview.metrics.power_kw, WMaxLimPctEna: word });
  } catch (error) {
    if (error instanceof DerbenchError && error.status === 422) throw new Error(error.issues[0]?.name, { cause: error });
  }
  // @ts-expect-error a misspelled member
  await client.grid({ voltag_pu: other.x, first });
  // @ts-expect-error there is no such member
  overview.metrics.power_mw;
  // @ts-expect-error the device may have been removed
  (await client.step({ ticks: 2 })).snapshot.metrics;
  // @ts-expect-error a quantity that not every device has
  overview.metrics.state_of_charge_pct.toFixed();
}
`;

/** That a reply of the description has the members that the types for scripts give it. */
const comparison = `
import type { paths } from './openapi.d.ts';
import type * as own from 'derbench';

type Json<R> = { content: { 'application/json': R } };
type Absent = 'not in the description';
type Get<P extends keyof paths> = paths[P] extends { get: { responses: { 200: Json<infer R> } } } ? R : Absent;
type Post<P extends keyof paths> = paths[P] extends { post: { responses: { 200: Json<infer R> } } } ? R : Absent;
type Body<P extends keyof paths> = paths[P] extends { post: { requestBody: Json<infer R> } } ? R : Absent;
type Recorded = 'modbus' | 'csip' | 'dnp3' | 'ocpp/{id}';

export function replies(of: { [P in keyof own.GetReplies]: Get<\`/api/sim/\${P}\`> }): own.GetReplies {
  return of;
}
export const connector = (of: Get<'/api/sim/evse/{id}/connectors/{cid}'>): own.Connector => of;
export const model = (of: Get<'/api/sim/registers/{model_id}'>): own.RegisterModel => of;
export const step = (of: Post<'/api/sim/controls/time/step'>): own.Step => of;
export const authorization = (of: Post<'/api/sim/evse/{id}/connectors/{cid}/authorize'>): own.Authorization => of;
export const grid = (of: own.GridChange): Body<'/api/sim/controls/grid'> => of;
export const environment = (of: own.EnvironmentChange): Body<'/api/sim/controls/environment'> => of;
export const message = (
  of: Get<\`/api/sim/\${Recorded}/messages\`>['messages'][number],
): own.Message => of;
`;

/** Messages of the compiler about programs in memory, beside the package of these types. */
function complaints(
  programs: Readonly<Record<string, string>>,
  types: Readonly<Record<string, string>>,
  more: ts.CompilerOptions,
): string[] {
  const folder = '/consumer';
  const files = new Map(Object.entries(programs).map(([name, text]) => [`${folder}/${name}`, text]));
  const installed = `${folder}/node_modules/derbench`;
  for (const [name, text] of Object.entries(types)) files.set(`${installed}/${name}`, text);
  const options: ts.CompilerOptions = { strict: true, noEmit: true, types: [], lib: ['lib.es2023.d.ts'], ...more };
  const host = ts.createCompilerHost(options);
  const real = {
    fileExists: host.fileExists.bind(host),
    readFile: host.readFile.bind(host),
    directoryExists: host.directoryExists?.bind(host),
  };
  host.fileExists = (path) => files.has(path) || real.fileExists(path);
  host.readFile = (path) => files.get(path) ?? real.readFile(path);
  host.directoryExists = (path) =>
    path.startsWith(folder)
      ? [...files.keys()].some((each) => each.startsWith(`${path}/`))
      : real.directoryExists?.(path) === true;
  host.getSourceFile = (path, target) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, target);
  };
  host.realpath = (path) => path;
  const rootNames = Object.keys(programs).map((name) => `${folder}/${name}`);
  return ts
    .getPreEmitDiagnostics(ts.createProgram({ rootNames, options, host }))
    .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
}

describe('the types of the package', function () {
  this.timeout(60_000);
  const files: Record<string, string> = {};

  before(async () => {
    const { declarations } = (await import(packageFile('scripts/types.mjs'))) as {
      declarations: (root: string) => Promise<Record<string, string>>;
    };
    files['package.json'] = await readFile(packageFile('package.json'), 'utf8');
    for (const [name, text] of Object.entries(await declarations(packageFile('.')))) files[`dist/types/${name}`] = text;
  });

  it('are small', () => {
    expect(Object.values(files).join('').split('\n').length - files['package.json']!.split('\n').length).to.be.below(
      600,
    );
  });

  for (const [name, options] of Object.entries({
    'Node.js': { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 },
    'a bundler, with the strictest options': {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2022,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
    },
  }))
    it(`compile in a project for ${name}, without types of Node.js or of a browser`, () => {
      expect(complaints({ 'use.mts': consumer }, files, { ...options, skipLibCheck: false })).to.deep.equal([]);
    });

  it('are those of the description', async () => {
    const openapi = astToString(await openapiTS(JSON.stringify(wholeDescription())));
    const options = {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    };
    expect(complaints({ 'compare.mts': comparison, 'openapi.d.ts': openapi }, files, options)).to.deep.equal([]);
  });
});

describeWith(['python'], 'the client for Python', function () {
  this.timeout(180_000);

  it('does what its methods say, and refuses in words', async () => {
    const test = fileURLToPath(new URL('python/derbench_client.py', import.meta.url));
    const env = { ...pythonEnvironment, COMMAND: JSON.stringify(programCommand), DERBENCH_TICK: '7' };
    expect(await pasted([python, test], '', env), 'failures are an exit code').to.equal('');
  });

  it('has helpers for co-simulation that need no solver', async () => {
    const test = fileURLToPath(new URL('python/cosim_helpers.py', import.meta.url));
    expect(await pasted([python, test], '', pythonEnvironment), 'failures are an exit code').to.equal('');
  });
});

describeWith(['python'], 'the page about co-simulation', function () {
  this.timeout(60_000);

  it('has a loop in which volt-var lowers the voltage that it reads', async () => {
    const [loop = ''] = blocksOf('docs/how-to/co-simulation.md').flatMap(({ language, text }) =>
      language === 'python' ? [text] : [],
    );
    const output = await pasted([python, '-'], fromPython(loop), pythonEnvironment);
    const [, pu, vars] = /^(\d\.\d+) pu (-\d+) var\n$/.exec(output) ?? [];
    // 10 kW and the curve from 102 % on: q = -22/3 * 10 kvar * (u - 1.02), u = 1.02 + 0.01 + 2e-6 q
    expect(Number(pu), output).to.be.closeTo(1.0287, 5e-4);
    expect(Number(vars), output).to.be.closeTo(-640, 40);
  });
});

describeWith(['python'], 'the page about testing a head-end', function () {
  this.timeout(120_000);
  const blocks = blocksOf(page);
  const textsIn = (wanted: string) => blocks.filter(({ language }) => language === wanted).map(({ text }) => text);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-page-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('shell: the test passes, and fails with another limit', async () => {
    const script = textsIn('sh').find((text) => text.startsWith('#!')) ?? '';
    const own = script
      .replaceAll('simulator.txt', `${folder}/simulator.txt`)
      .replaceAll('npx --no-install derbench', command);
    expect(await pasted(['sh'], own)).to.match(/^the device is at 127\.0\.0\.1:\d+\n701\.W is 5000 W\n$/);
    const failure = await pasted(['sh'], own.replace('"WMaxLimPct": 50', '"WMaxLimPct": 60')).catch(String);
    expect(failure)
      .to.match(/sh ended with 1\n/)
      .and.include('701.W is 6000 W');
  });

  it('Python: the test passes, and the tour of the client gives what it says', async () => {
    const [test = '', tour = ''] = textsIn('python');
    await writeFile(join(folder, 'test_head_end.py'), fromPython(test));
    const env = { ...pythonEnvironment, PYTHONPATH: `${pythonEnvironment.PYTHONPATH}:${folder}` };
    await pasted([python, '-m', 'unittest', 'test_head_end'], '', env);
    expect(await pasted([python, '-'], fromPython(tour), env)).to.match(
      /^-\d+(\.\d+)? kW at the charger\nFAULT at 12:0\d:\d\d\n422 704\.WMaxLimPct: 500 is outside 0\.\.100\n$/,
    );
  });
});
