import { execFile, spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { programCommand, startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith, installedPath } from './support/peers.ts';

const maxListBytes = 14_336;
const maxAnswerBytes = 8192;
const bytes = (value: unknown) => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));

/** A module of the clients, which are outside of this package. */
const moduleOf = (path: string): Promise<Json> => import(pathToFileURL(join(installedPath('mcp'), path)).href);

const [program, ...programWords] = programCommand;
const serverWords = (...words: readonly string[]) => [...programWords, 'mcp', ...words];

/** The part that both generations of clients share. */
interface McpClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly Json[] }>;
  callTool(
    request: { readonly name: string; readonly arguments: object },
    options?: { readonly signal: AbortSignal },
  ): Promise<Json>;
  listResources(): Promise<{ readonly resources: readonly Json[] }>;
  readResource(request: { readonly uri: string }): Promise<Json>;
  close(): Promise<void>;
}

const clients = {
  v1: ['@modelcontextprotocol/sdk/dist/esm/client/index.js', '@modelcontextprotocol/sdk/dist/esm/client/stdio.js'],
  v2: ['@modelcontextprotocol/client/dist/index.mjs', '@modelcontextprotocol/client/dist/stdio.mjs'],
} as const;

async function connected(generation: keyof typeof clients, ...words: readonly string[]): Promise<McpClient> {
  const [client, stdio] = await Promise.all(clients[generation].map(moduleOf));
  const mcp = new client.Client({ name: 'derbench-test', version: '1.0.0' }) as McpClient;
  await mcp.connect(
    new stdio.StdioClientTransport({ command: program, args: serverWords(...words), stderr: 'ignore' }),
  );
  return mcp;
}

/** Each tool once; the device is a charging station where the tool needs one. */
const calls: readonly (readonly [name: string, given: object])[] = [
  ['list_devices', {}],
  ['read_points', { points: ['701.W', '701.InvSt'] }],
  ['why', {}],
  ['findings', {}],
  ['messages', { protocol: 'modbus' }],
  ['compare', { device: 1 }],
  ['write_points', { model: 704, points: { WMaxLimPct: 60 } }],
  ['limit', { percent: 50, for_s: 60 }],
  ['set_grid', { voltage_pu: 0.98 }],
  ['set_weather', { irradiance_w_m2: 700 }],
  ['grid_event', { name: 'sag', params: { residual_pu: 0.9 } }],
  ['vehicle', { device: 5, action: 'plug', soc_pct: 40 }],
  ['fault', { kind: 'scale', params: { points: ['701.W'], factor: 0.5 } }],
  ['time', { action: 'step', ticks: 2 }],
  ['wait_until', { point: '701.W', op: '>', value: 0 }],
  ['run_scenario', { bundled: 'volt-watt' }],
  ['api', { path: 'controls/grid' }],
  ['api_search', { words: 'battery charge' }],
];

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'lines', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A server that is talked to by lines. */
class Lines {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: string[] = [];
  readonly #waiting: ((line: string) => void)[] = [];

  constructor(...words: readonly string[]) {
    this.child = spawn(program, serverWords(...words));
    this.child.stderr.resume();
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.lines.push(line);
      this.#waiting.shift()?.(line);
    });
  }

  async request(method: string, params: object = {}): Promise<Json> {
    const line = new Promise<string>((resolve) => this.#waiting.push(resolve));
    const id = this.lines.length + 1;
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })}\n`);
    return JSON.parse(await line);
  }

  /** @returns the exit code, and the time that it took, ms */
  async end(): Promise<{ readonly code: number | null; readonly ms: number }> {
    const beginMs = performance.now();
    this.child.stdin.end();
    const [code] = (await once(this.child, 'exit')) as [number | null];
    return { code, ms: performance.now() - beginMs };
  }
}

describeWith(['mcp'], 'derbench mcp', function () {
  this.timeout(180_000);
  let simulator: RunningSimulator;
  let url: string;

  before(async () => {
    simulator = await startSimulator(['--config', 'config/examples/mixed-site.yaml', '--start_paused', 'yes']);
    url = `http://127.0.0.1:${simulator.httpPort}`;
  });
  after(() => simulator.stop());

  for (const generation of ['v1', 'v2'] as const)
    it(`serves a client of ${generation} every tool and the resources`, async () => {
      const client = await connected(generation, '--url', url);
      try {
        const { tools } = await client.listTools();
        expect(bytes({ tools })).to.be.at.most(maxListBytes);
        expect(tools.map(({ name }) => name as string)).to.deep.equal(calls.map(([name]) => name));
        for (const [name, given] of calls) {
          const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: given });
          expect(isError, `${name}: ${JSON.stringify(content)}`).to.equal(false);
          expect(bytes(content[0].text), name).to.be.within(1, maxAnswerBytes);
          expect(bytes(structuredContent), name).to.be.within(2, maxAnswerBytes);
        }
        const refused = await client.callTool({ name: 'time', arguments: { action: 'step', ticks: 0 } });
        expect([refused.isError, JSON.parse(refused.content[0].text).errors[0].pointer]).to.deep.equal([
          true,
          '/ticks',
        ]);
        const uris = (await client.listResources()).resources.map(({ uri }) => uri as string);
        expect(uris).to.include('derbench://docs/devices/pv');
        const { contents } = await client.readResource({ uri: 'derbench://scenario-schema' });
        expect(JSON.parse(contents[0].text)).to.have.property('$schema');
      } finally {
        await client.callTool({ name: 'vehicle', arguments: { device: 5, action: 'unplug' } });
        await client.callTool({ name: 'fault', arguments: { clear: true } });
        await client.close();
      }
    });

  it('answers lines of 2026-07-28 without initialize, and prints nothing else', async () => {
    const server = new Lines('--url', url);
    const { result } = await server.request('tools/list');
    expect(result.tools).to.have.length(calls.length);
    const call = await server.request('tools/call', { name: 'list_devices', arguments: {} });
    expect(call.result.content[0].text).to.match(/^7 devices at /);
    expect((await server.request('tools/call', { name: 'halt', arguments: {} })).error.code).to.equal(-32602);
    expect((await server.end()).code).to.equal(0);
    expect(server.lines.map((line) => JSON.parse(line).jsonrpc)).to.deep.equal(['2.0', '2.0', '2.0']);
  });

  it('has a paused simulator of its own, whose log stays off standard output, and ends with its input', async () => {
    const server = new Lines('--own', '-d', 'Batt', '-N', '2', '--read-only');
    const { result } = await server.request('tools/call', { name: 'list_devices', arguments: {} });
    expect(result.content[0].text).to.match(/^2 devices at .* \(paused\): /);
    const { tools } = (await server.request('tools/list')).result;
    expect(tools.every(({ annotations }: Json) => annotations.readOnlyHint)).to.equal(true);
    const { code, ms } = await server.end();
    expect(code).to.equal(0);
    expect(ms).to.be.lessThan(1000);
    expect(server.lines.every((line) => line.startsWith('{'))).to.equal(true);
  });

  it('leaves the simulator running, and reaches no other host', async () => {
    const client = await connected('v2', '--url', url);
    try {
      for (const [path, body] of [
        ['stop', {}],
        ['sunspec-client/connect', { host: '127.0.0.1', port: simulator.modbusPort }],
        ['../../openapi.json', {}],
      ] as const) {
        const given = { method: 'POST', path, body };
        expect((await client.callTool({ name: 'api', arguments: given })).isError, path).to.equal(true);
      }
    } finally {
      await client.close();
    }
    expect((await ask(simulator.httpPort, '/api/sim/sunspec-client')).json.enabled).to.equal(false);
  });

  it('ends a call that the client cancels, and what it does to the simulator', async () => {
    const client = await connected('v2', '--url', url);
    const tick = async () => (await ask(simulator.httpPort, '/api/sim/controls/time')).json.tick as number;
    try {
      const cancelling = new AbortController();
      const endless = { point: '701.W', op: '>', value: 1e9, timeout_s: 86_400 };
      const waiting = client.callTool({ name: 'wait_until', arguments: endless }, { signal: cancelling.signal });
      const start = await tick();
      while ((await tick()) === start);
      cancelling.abort();
      expect(await waiting.catch((error: unknown) => error)).to.be.instanceOf(Error);
      // the server has read the cancellation before this call
      await client.callTool({ name: 'list_devices', arguments: {} });
      const end = await tick();
      for (let call = 0; call < 5; call += 1) await client.callTool({ name: 'why', arguments: {} });
      expect(await tick()).to.equal(end);
    } finally {
      await client.close();
    }
  });

  it('passes the inspector', async () => {
    const inspect = async (...words: readonly string[]) => {
      const inspector = join(installedPath('mcp'), '.bin/mcp-inspector');
      const server = [program, ...serverWords('--url', url)];
      const { stdout } = await promisify(execFile)(inspector, ['--cli', ...server, ...words], { timeout: 60_000 });
      return JSON.parse(stdout);
    };
    expect((await inspect('--method', 'tools/list')).tools).to.have.length(calls.length);
    const called = await inspect(
      '--method',
      'tools/call',
      '--tool-name',
      'read_points',
      '--tool-arg',
      'points=["701.W"]',
    );
    expect(called.structuredContent.points[0].point).to.equal('701.W');
  });
});
