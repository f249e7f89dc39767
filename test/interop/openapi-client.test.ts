import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { apiVersion } from '../../src/api/http/context.ts';
import { ask } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import { Rest } from '../support/rest.ts';

const folder = fileURLToPath(new URL('../../fixtures/openapi/', import.meta.url));
const clientPath = `${folder}client.ts`;

interface Client {
  halvePower(
    baseUrl: string,
    device: number,
  ): Promise<{ version: string; beforeKw: number; afterKw: number; decidedBy: string }>;
}

const mistakes = {
  'a path that does not exist': "client.GET('/api/sim/nothing')",
  'a value that is none of the words': "client.POST('/api/sim/commands', { body: { command: 'explode' } })",
  'a parameter of another type': "client.GET('/api/sim/overview', { params: { query: { device: 'first' } } })",
  'a member that the reply does not have': "client.GET('/api/sim/overview').then(({ data }) => data?.metrics.power_mw)",
  'a null without a check': "client.GET('/api/sim/overview').then(({ data }) => data?.metrics.dc_power_kw.toFixed())",
} as const;
const mistakePath = (index: number) => `${folder}mistake-${index}.ts`;

/** Programs in memory only. */
function programsBeside(types: string): ReadonlyMap<string, string> {
  const begin =
    "import createClient from 'openapi-fetch';\nimport type { paths } from './derbench.d.ts';\nconst client = createClient<paths>({});\n";
  const wrong = Object.values(mistakes).map((call, index): [string, string] => [
    mistakePath(index),
    `${begin}void ${call};\n`,
  ]);
  return new Map([[`${folder}derbench.d.ts`, types], ...wrong]);
}

/** The messages of the strictest compiler about the client and about the mistakes, by file. */
function complaints(types: string): Map<string, string[]> {
  const virtual = programsBeside(types);
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  const real = {
    fileExists: host.fileExists.bind(host),
    readFile: host.readFile.bind(host),
    getSourceFile: host.getSourceFile.bind(host),
  };
  host.fileExists = (path) => virtual.has(path) || real.fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? real.readFile(path);
  host.getSourceFile = (path, target) => {
    const text = virtual.get(path);
    return text === undefined ? real.getSourceFile(path, target) : ts.createSourceFile(path, text, target);
  };
  const program = ts.createProgram({ rootNames: [clientPath, ...virtual.keys()], options, host });
  const found = new Map<string, string[]>();
  for (const { file, messageText } of ts.getPreEmitDiagnostics(program)) {
    const path = file?.fileName ?? '';
    found.set(path, [...(found.get(path) ?? []), ts.flattenDiagnosticMessageText(messageText, ' ')]);
  }
  return found;
}

describe('a client generated from the description', function () {
  this.timeout(60_000);
  let rest: Rest;
  let text: string;
  let types: string;
  const warnings: unknown[][] = [];

  before(async () => {
    rest = await Rest.open(testPlant());
    ({ text } = await ask(rest.port, '/openapi.json'));
    const { warn, error } = console;
    console.warn = console.error = (...words: unknown[]) => {
      warnings.push(words);
    };
    try {
      types = astToString(await openapiTS(text));
    } finally {
      Object.assign(console, { warn, error });
    }
  });
  after(() => rest.api.stop());

  it('comes from a document without findings of the strictest linter', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
    expect(
      problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`),
    ).to.deep.equal([]);
  });

  it('is generated without warnings', async () => {
    expect(warnings).to.deep.equal([]);
    const { paths = {} } = await (await rest.api.operations()).document();
    for (const path of Object.keys(paths)) expect(types).to.include(`"${path}": {`);
  });

  it('compiles under the strictest options with a correct program, and not with a wrong one', () => {
    const found = complaints(types);
    Object.keys(mistakes).forEach((mistake, index) => {
      expect(found.get(mistakePath(index)), mistake).to.have.length(1);
      found.delete(mistakePath(index));
    });
    expect([...found]).to.deep.equal([]);
  });

  it('drives the running simulator', async () => {
    const client = (await import(clientPath)) as Client;
    const { version, beforeKw, afterKw, decidedBy } = await client.halvePower(`http://127.0.0.1:${rest.port}`, 0);
    expect(version).to.equal(apiVersion);
    expect(beforeKw).to.be.greaterThan(5);
    expect(afterKw).to.be.closeTo(5, 0.01);
    expect(decidedBy).to.equal('max_power');
  });

  it('gets the problem of a refused request in the words of the simulator', async () => {
    const client = (await import(clientPath)) as Client;
    try {
      await client.halvePower(`http://127.0.0.1:${rest.port}`, 9);
      expect.fail('there is no device 9');
    } catch (error) {
      expect((error as Error).message).to.match(/device 9/i);
    }
  });
});
