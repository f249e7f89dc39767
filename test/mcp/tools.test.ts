import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchemaObject } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { z } from 'zod';
import { outwardSettings } from '../../src/app/cli/mcp.ts';
import { settingGroups } from '../../src/config/settings/settings.ts';
import { DerbenchError } from '../../src/library/error.ts';
import { resultOf } from '../../src/mcp/answers.ts';
import type { Result } from '../../src/mcp/answers.ts';
import { apiPath } from '../../src/mcp/door.ts';
import { outwardMember } from '../../src/mcp/outward.ts';
import { listResources, readResource } from '../../src/mcp/resources.ts';
import { callTool, contextOf, createThrottle, listedTools, toolsOf } from '../../src/mcp/server.ts';
import { tool } from '../../src/mcp/tool.ts';
import type { Tool } from '../../src/mcp/tool.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';

const maxListBytes = 14_336;
const maxBytes = 8192;
const bytes = (value: unknown) => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));

let running: RunningApp;
let options: Parameters<typeof contextOf>[0];

const toolOf = (name: string, isReadOnly = false) => {
  const tool = toolsOf(isReadOnly).find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return tool;
};

async function call(name: string, given: object = {}, change: Partial<typeof options> = {}): Promise<Result> {
  const context = contextOf({ ...options, ...change });
  return callTool(toolOf(name, change.isReadOnly), given, context, new AbortController().signal);
}

const ajv = new Ajv2020({ strict: false });
const outputs = new Map(
  listedTools(toolsOf(false)).map(({ name, outputSchema }) => [name, ajv.compile(outputSchema as AnySchemaObject)]),
);

/** Where an answer differs from the schema in the list. */
function issuesOf(name: string, { structuredContent }: Result): readonly string[] {
  const validate = outputs.get(name);
  void validate?.(structuredContent);
  return (validate?.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const textOf = ({ content }: Result) => content.map(({ text }) => text).join('');

/** Code and first pointer of a refusal. */
async function refusal(name: string, given: object, change: Partial<typeof options> = {}) {
  const result = await call(name, given, change);
  expect(result.isError, textOf(result)).to.equal(true);
  const { code, errors } = JSON.parse(textOf(result)) as {
    readonly code: string;
    readonly errors: readonly { readonly pointer: string; readonly allowed?: readonly unknown[] }[];
  };
  return { code, pointer: errors[0]?.pointer, allowed: errors[0]?.allowed };
}

describe('tools of MCP', () => {
  before(async () => {
    running = await startApp(['PV-3Phase', 'Batt-3Phase', 'EVSE']);
    options = {
      url: `http://127.0.0.1:${running.port}`,
      isReadOnly: false,
      outwardSettings: outwardSettings(),
      runScenario: ({ bundled }) =>
        Promise.resolve({
          name: String(bundled),
          state: 'failed',
          failures: ['power is 5 kW, not 4 kW'],
          error: null,
          summary: 'Test: failed',
          report: { format: 'x' },
        }),
    };
  });
  after(() => running.app.stop());

  it('are at most 18, in a list that fits, read-only ones alone with --read-only', () => {
    for (const isReadOnly of [false, true]) {
      const tools = toolsOf(isReadOnly);
      expect(tools.length).to.be.at.most(18);
      expect(bytes({ tools: listedTools(tools) })).to.be.at.most(maxListBytes);
      expect(new Set(tools.map(({ name }) => name)).size).to.equal(tools.length);
    }
    expect(toolsOf(true).map(({ name }) => name)).to.deep.equal([
      ...['list_devices', 'read_points', 'why', 'findings', 'messages', 'compare', 'api', 'api_search'],
    ]);
    expect(toolsOf(true).every(({ annotations }) => annotations.readOnlyHint)).to.equal(true);
  });

  /** Every tool, with its sentence. */
  const rows: readonly (readonly [name: string, given: object, sentence: RegExp])[] = [
    ['list_devices', {}, /^3 devices at .* \(paused\): 0 .* \(PV-3Phase\) [\d.]+ kW; 1 /],
    ['list_devices', { device: 1 }, /^1 device at .*: 1 .* \(Batt-3Phase\)/],
    ['read_points', { points: ['701.InvSt', '702.WMax'] }, /^Device 0: 701\.InvSt RUNNING \(3\), 702\.WMax 10000 W\.$/],
    ['write_points', { model: 704, points: { WMaxLimPct: 60 } }, /^Device 0: 704\.WMaxLimPct is 60 %\.$/],
    ['limit', { percent: 50, for_s: 600 }, /^Device 0: .*WMaxLimPct: 60 % -> 50 %.*RvrtTms: 0 s -> 600 s\.$/],
    ['time', { action: 'step', ticks: 2 }, /^The clock shows .*, tick 2, paused\.$/],
    ['why', { device: 0 }, /^Device 0: \d\.\d\d kW of .* kW: limit of active power, written by REST/],
    ['why', {}, /Device 2, connector 1: /],
    ['limit', { kw: 2 }, /50 % -> 20 %/],
    ['limit', { off: true }, /ENABLED \(1\) -> DISABLED \(0\)/],
    ['limit', { site: 'export', kw: 3 }, /^Site: export limit: 3 kW\.$/],
    ['limit', { site: 'export', off: true }, /^Site: export limit: off\.$/],
    ['limit', { site: 'import', kw: 2, device: 1 }, /^Connection point of device 1: import limit: 2 kW\.$/],
    ['findings', {}, /^No rule is broken; nothing needs attention\.$/],
    ['messages', { protocol: 'ocpp', device: 2 }, /^0 messages of ocpp\.$/],
    ['messages', { protocol: 'modbus' }, /^0 messages of modbus, whose recording is off\.$/],
    ['compare', { device: 1 }, /^Device 1: all protocols agree; accepted commands are in force\.$/],
    ['set_grid', { voltage_pu: 0.95 }, /voltage_a_pu 0\.95/],
    ['grid_event', { name: 'sag', params: { residual_pu: 0.8 } }, /^The event sag has started\.$/],
    ['grid_event', { name: null }, /^The event has ended\.$/],
    ['set_grid', { normal: true }, /voltage_a_pu 1,/],
    ['set_weather', { irradiance_w_m2: 500 }, /irradiance_w_m2 500/],
    ['vehicle', { device: 2, action: 'plug', soc_pct: 40 }, /^SIM-CP-1, connector 1: preparing/],
    ['vehicle', { device: 2, action: 'stop' }, /^SIM-CP-1, connector 1: finishing, 0 kW, limit/],
    ['vehicle', { device: 2, action: 'unplug' }, /available/],
    ['fault', { kind: 'scale', params: { points: ['701.W'], factor: 0.5 }, for_s: 9 }, /^Fault \d+ \(modbus scale\)/],
    ['fault', { clear: true }, /^1 fault has ended\.$/],
    ['time', { action: 'rate', rate: 100 }, /running at rate 100\.$/],
    ['time', { action: 'pause' }, /paused\.$/],
    ['wait_until', { point: '701.W', op: '>', value: 100 }, /^701\.W of device 0 is [\d.]+\.$/],
    ['run_scenario', { bundled: 'volt-watt' }, /^Test: failed\. power is 5 kW, not 4 kW/],
    ['api', { path: 'controls/grid' }, /^GET controls\/grid was answered\.$/],
    ['api', { method: 'POST', path: '/api/sim/site', body: { export_limit_kw: 5 } }, /^POST site was answered\.$/],
    ['api_search', { words: 'battery charge' }, /POST controls\/battery/],
  ];
  it('answer in a sentence and as declared, within their size', async () => {
    for (const [name, given, sentence] of rows) {
      const result = await call(name, given);
      const text = textOf(result);
      expect(result.isError, `${name}: ${text}`).to.equal(undefined);
      expect(text, name).to.match(sentence);
      expect(issuesOf(name, result), name).to.deep.equal([]);
      expect(bytes(text), name).to.be.at.most(maxBytes);
      expect(bytes(result.structuredContent), name).to.be.at.most(maxBytes);
    }
    const called = new Set(rows.map(([name]) => name));
    expect([...called].toSorted()).to.deep.equal(
      toolsOf(false)
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it('say every member of their answers but those of peers', () => {
    interface Node {
      readonly type?: unknown;
      readonly anyOf?: readonly Node[];
      readonly properties?: Readonly<Record<string, Node>>;
      readonly items?: Node;
      readonly additionalProperties?: Node;
    }
    const wide = ({ type, anyOf = [], properties = {}, items, additionalProperties }: Node, path: string): string[] => {
      if (type === undefined && anyOf.length === 0) return [path];
      const inner = [...Object.entries(properties), ['*', items], ['*', additionalProperties]] as const;
      return [
        ...anyOf.flatMap((each) => wide(each, path)),
        ...inner.flatMap(([name, node]) => (node === undefined ? [] : wide(node, `${path}.${name}`))),
      ];
    };
    const places = listedTools(toolsOf(false)).flatMap(({ name, outputSchema }) => wide(outputSchema as Node, name));
    expect(places.filter((place) => !place.endsWith('.from_peer'))).to.deep.equal([]);
  });

  it('give the declared members, and fail where the simulator has not given them', async () => {
    const data: object = { point: '701.W', value: '5', more: 1 };
    const other = (members: object) =>
      tool({
        ...toolOf('why'),
        input: {},
        output: { point: z.string(), value: z.string() },
        run: () => Promise.resolve({ sentence: 'x', data: members as { point: string; value: string } }),
      });
    const { signal } = new AbortController();
    const { structuredContent } = await callTool(other(data), {}, contextOf(options), signal);
    expect(structuredContent).to.deep.equal({ point: '701.W', value: '5' });
    const failed = await callTool(other({ point: '701.W' }), {}, contextOf(options), signal);
    expect(failed.isError).to.equal(true);
    expect(textOf(failed)).to.include('"other-simulator"').and.include('value: ');
  });

  it('say what they cut', async () => {
    const models = [701, 702, 703, 704, 705, 706, 802].map((model) => `${model}.*`);
    const result = await call('read_points', { device: 1, points: models });
    expect(bytes(textOf(result))).to.be.at.most(maxBytes);
    expect(bytes(result.structuredContent)).to.be.at.most(maxBytes);
    expect(textOf(result)).to.match(/Cut: points has \d+ of \d+; ask with read_points with fewer points\.$/);
    const whole = await call('api', { path: 'registers/802', query: { device: 1 } });
    expect(bytes(whole.structuredContent)).to.be.at.most(maxBytes);
    expect(textOf(whole)).to.match(/Cut: from_peer has the first part of \d+ octets/);
    const single = resultOf({ sentence: 'x', data: { list: [{ id: 7, from_peer: 'ü'.repeat(20_000) }] } });
    expect(bytes(single.structuredContent)).to.be.at.most(maxBytes);
    expect(single.structuredContent?.['list']).to.have.nested.property('[0].id', 7);
    const lists = { short: [1], one: ['x'.repeat(9000)], other: Array.from({ length: 900 }, () => 'ten octets') };
    const several = resultOf({ sentence: 'x', data: lists });
    expect(bytes(several.structuredContent)).to.be.at.most(maxBytes);
    expect(several.structuredContent).to.deep.include({ short: [1], one: [] });
    expect(textOf(several)).to.match(/Cut: other has \d+ of 900, one has 0 of 1\.$/);
  });

  it('refuse with code, pointer and what is allowed', async () => {
    const validation = { code: 'validation', allowed: undefined };
    expect(await refusal('time', { action: 'step', ticks: 0 })).to.deep.equal({ ...validation, pointer: '/ticks' });
    expect(await refusal('time', { action: 'go' })).to.include({ code: 'validation', pointer: '/action' });
    expect(await refusal('why', { devise: 0 })).to.include({ code: 'validation' });
    expect(await refusal('write_points', { model: 704, points: { WMaxLimPctEna: 'ON' } })).to.deep.equal({
      code: 'validation',
      pointer: '/points/WMaxLimPctEna',
      allowed: ['DISABLED', 'ENABLED'],
    });
    expect(await refusal('grid_event', { name: null, params: { a: 1 } })).to.include({ pointer: '/params' });
    for (const more of [{ percent: 5 }, { kw: 5, for_s: 9 }])
      expect(await refusal('limit', { site: 'export', ...more })).to.include({ code: 'validation' });
    expect(await refusal('limit', { percent: 5, kw: 2 })).to.deep.equal({ ...validation, pointer: '/percent' });
    expect(await refusal('read_points', { points: ['W'] })).to.include({ code: 'validation' });
    expect(await refusal('why', { device: 9 })).to.include({ code: 'unknown-device' });
    const late = await call('wait_until', { point: '701.W', op: '>', value: 1e9, timeout_s: 2 });
    expect(textOf(late)).to.include('"timeout"').and.include('701.W did not become > 1000000000 within 2 s');
    expect(await refusal('list_devices', {}, { url: 'http://127.0.0.1:9' })).to.include({ code: 'not-reachable' });
  });

  it('never stop the simulator, and reach no other host', async () => {
    for (const path of [
      'stop',
      '/api/sim/stop',
      'stop/',
      './stop',
      'x/../stop',
      '%73top',
      'http://127.0.0.1/x',
      '//h/x',
      'a?b',
      'a#b',
      'a\\b',
      '',
    ])
      expect((await refusal('api', { method: 'POST', path })).code, path).to.be.oneOf(['validation', 'refused-by-mcp']);
    const outward = [
      ['sunspec-client/connect', { host: '10.0.0.1', port: 502 }],
      ['csip/config', { server_host: 'example.org' }],
      ['csip/discover', {}],
      ['ocpp/SIM-CP-1/connect', { url: 'ws://example.org' }],
      ['settings', { settings: { ocpp_url: 'ws://example.org' } }],
      ['config', { config: 'csip_host: example.org' }],
      ['devices', { devices: [{ ocpp: { url: 'ws://example.org' } }] }],
    ] as const;
    for (const [path, body] of outward)
      expect((await refusal('api', { method: 'POST', path, body })).code, path).to.equal('refused-by-mcp');
    const allowed = await refusal('api', { method: 'POST', path: 'csip/discover' }, { outwardSettings: null });
    expect(allowed.code).not.to.equal('refused-by-mcp');
    expect((await refusal('api', { method: 'POST', path: 'stop' }, { outwardSettings: null })).code).to.equal(
      'refused-by-mcp',
    );
    expect(apiPath('/api/sim/registers/701:2')).to.equal('registers/701:2');
    expect(outwardMember({ inject: [{ kind: 'exception', address: 40_000 }] }, outwardSettings())).to.equal(null);
    expect((await call('list_devices')).isError).to.equal(undefined);
  });

  it('set nothing that reaches another machine or a file, whatever its kind', async () => {
    const refused = outwardSettings();
    const names = settingGroups.flatMap(({ settings }) => settings);
    const outward = names.filter((name) =>
      /(host|_ip|url|uri|discover|dir|_file|cert|key|dcap|proxy|port|peers|origin|website)/.test(name),
    );
    expect(outward.filter((name) => !refused.has(name))).to.deep.equal([]);
    for (const name of ['tick', 'wind_time_scale', 'ocpp_enable', 'mb_enable', 'csip_client_enable'])
      expect(refused.has(name), name).to.equal(false);
    for (const body of [{ csip_server_ip: 'example.org' }, { csip_discover: true }, { mb_port: 0 }]) {
      const [pointer] = Object.keys(body).map((key) => `/body/${key}`);
      expect(await refusal('api', { method: 'PATCH', path: 'settings', body })).to.include({
        code: 'refused-by-mcp',
        pointer,
      });
      const step = `call: { request: PATCH /settings, body: ${JSON.stringify(body)} }`;
      const text = `name: x\nsteps:\n  - ${step}\n`;
      expect(await refusal('run_scenario', { text })).to.include({ code: 'refused-by-mcp' });
    }
  });

  it('take scenarios with links in comments and with parameters in names', async () => {
    const text =
      '# https://example.org\nname: A limit of ${limit} %\nsteps:\n  - call: { request: POST /csip/communication }\n';
    expect((await call('run_scenario', { text })).isError).to.equal(undefined);
  });

  it('reach no other host by a scenario either', async () => {
    const withStep = (step: string) => `name: x\nconfig: {devices: [{device_type: PV-3Phase}]}\nsteps:\n  - ${step}\n`;
    const outward = [
      'call: { request: POST /sunspec-client/connect, body: { host: 10.0.0.1, port: 502 } }',
      'call: { request: POST /csip/discover }',
      'call: { request: "POST /${path}" }',
    ].map(withStep);
    for (const text of outward) {
      expect((await refusal('run_scenario', { text })).code, text).to.equal('refused-by-mcp');
      expect((await call('run_scenario', { text }, { outwardSettings: null })).isError, text).to.equal(undefined);
    }
    const text = withStep('call: { request: POST /stop }');
    expect((await call('run_scenario', { text })).isError).to.equal(undefined);
    for (const [path, body] of [
      ['scenarios', { yaml: text }],
      ['scenarios', { scenario: { steps: [] } }],
      ['scenario-runs', { yaml: text }],
    ] as const)
      expect(await refusal('api', { method: 'POST', path, body })).to.include({ code: 'refused-by-mcp' });
    const bundled = { method: 'POST', path: 'scenarios/check', body: { bundled: 'volt-watt' } };
    expect(textOf(await call('api', bundled))).not.to.include('refused-by-mcp');
  });

  it('change nothing with --read-only', async () => {
    expect(await refusal('api', { method: 'POST', path: 'site' }, { isReadOnly: true })).to.include({
      pointer: '/method',
    });
    expect((await call('api', { path: 'site' }, { isReadOnly: true })).isError).to.equal(undefined);
  });

  it('keep texts of peers apart', async () => {
    await call('api', { method: 'POST', path: 'modbus/messages', body: { enabled: true } });
    await call('messages', { protocol: 'modbus' });
    const { structuredContent } = await call('messages', { protocol: 'modbus' });
    expect(structuredContent).to.deep.equal({ enabled: true, messages: [] });
    expect(Object.keys((await call('api', { path: 'logs' })).structuredContent ?? {})).to.include('from_peer');
  });

  it('end at the limit of a call, unless they have one of their own', async () => {
    const requests: Promise<unknown>[] = [];
    const slow = (limitMs: number | null): Tool => ({
      ...toolOf('why'),
      limitMs,
      run: (_given, { client, signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => requests.push(client.time().catch((error: unknown) => error)));
          setImmediate(() =>
            setImmediate(() => limitMs === null && resolve({ sentence: 'Done.', data: { answers: [] } })),
          );
        }),
    });
    const { signal } = new AbortController();
    const ended = await callTool(slow(0), {}, contextOf(options), signal);
    expect(textOf(ended)).to.include('"timeout"');
    expect(requests).to.have.length(1);
    expect(await requests[0]).to.be.instanceOf(DerbenchError);
    expect(textOf(await callTool(slow(null), {}, contextOf(options), signal))).to.equal('Done.');
    expect(toolOf('wait_until').limitMs).to.equal(null);
  });

  it('end their request when they are cancelled', async () => {
    const cancelling = new AbortController();
    const clock = { mode: 'paused', rate: 1, sim_time: '2026-06-21T12:00:00.000Z', tick: 0 };
    const server = createServer((_, answer) => {
      cancelling.abort();
      answer.setHeader('Content-Type', 'application/json').end(JSON.stringify(clock));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const pause = (signal: AbortSignal) =>
      callTool(toolOf('time'), { action: 'pause' }, contextOf({ ...options, url: `http://127.0.0.1:${port}` }), signal);
    try {
      expect(textOf(await pause(cancelling.signal))).to.include('aborted');
      expect((await pause(new AbortController().signal)).structuredContent).to.deep.equal({ clock });
    } finally {
      // an open listener keeps the process of a failed test
      server.closeAllConnections();
      server.close();
    }
  });

  it('are called at most 100 times in a second', () => {
    let ms = 0;
    const mayCall = createThrottle(() => ms);
    expect(Array.from({ length: 101 }, mayCall).filter(Boolean)).to.have.length(100);
    ms = 1000;
    expect(mayCall()).to.equal(true);
  });
});

describe('resources of MCP', () => {
  it('are documents of the package, the descriptions and reports', async () => {
    const read = (uri: string) =>
      readResource(uri, { url: options.url, reports: new Map([['a1', { format: 'x' }]]) }, AbortSignal.abort());
    const uris = listResources().map(({ uri }) => uri);
    expect(uris).to.include.members(['derbench://openapi', 'derbench://scenario-schema', 'derbench://docs/devices/pv']);
    expect((await read('derbench://docs/devices/pv'))?.text).to.match(/^# PV/);
    expect((await read('derbench://scenario-schema'))?.text).to.include('"$schema"');
    expect((await read('derbench://reports/a1'))?.text).to.equal('{"format":"x"}');
    for (const uri of [
      'derbench://docs/../package',
      'derbench://docs/devices/../../../README',
      'file:///etc/passwd',
      'derbench://reports/b',
    ])
      expect(await read(uri), uri).to.equal(null);
    let failure: unknown;
    await read('derbench://openapi').catch((error: unknown) => {
      failure = error;
    });
    expect(failure).to.be.instanceOf(DerbenchError);
  });
});
