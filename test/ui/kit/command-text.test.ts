/** A command of the page is run by the program: it has to make the call that it stands for. */
import { expect } from 'chai';
import { parseArguments } from '../../../src/app/cli/arguments.ts';
import { commandOf as entryOf } from '../../../src/app/cli/table/commands.ts';
import { clientCommands } from '../../../src/client-commands/commands.ts';
import { Client } from '../../../src/library/client.ts';
import { anyCall, del, patch } from '../../../src/ui/api/call';
import type { Call } from '../../../src/ui/api/call';
import { commandOf } from '../../../src/ui/api/command-text';

const origin = 'http://127.0.0.1:8111';

/** Requests that a command line sends, but for reads. */
async function requestsOf(line: string): Promise<readonly Call[]> {
  const sent: Call[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    'faults/kinds': {
      kinds: [
        {
          protocol: 'modbus',
          kind: 'scale',
          parameters: [
            { name: 'points', type: 'array' },
            { name: 'factor', type: 'number' },
          ],
          targets: [],
        },
      ],
    },
    evse: { evses: [{ id: 'CP 1', device_index: 2, connectors: [{ connector_id: 1 }, { connector_id: 2 }] }] },
  };
  const fetch = (url: string, { method, body }: { readonly method: string; readonly body?: string }) => {
    const { pathname, search } = new URL(url);
    if (method !== 'GET')
      sent.push({ method: method as 'POST', address: `${pathname}${search}`, body: body && JSON.parse(body) });
    const answer = answers[pathname.replace('/api/sim/', '')] ?? { points: [], faults: [{ id: 1 }], ended: [] };
    const text = JSON.stringify({
      sim_time: '2026-06-21T12:00:00Z',
      status: 'available',
      event: null,
      time: { mode: 'paused' },
      ...answer,
    });
    return Promise.resolve({
      status: 200,
      headers: new Headers({ 'content-type': 'application/json' }),
      text: () => Promise.resolve(text),
    });
  };
  const [, name = '', ...words] = (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
  const given = parseArguments(entryOf(name)!, words);
  const index = given.options.get('--device')?.[0];
  const device = index === undefined ? {} : { device: Number(index) };
  await clientCommands[name]!({ ...given, client: new Client(origin, { fetch }), device, print: () => undefined });
  return sent;
}

const post = (path: string, body?: unknown, device?: number) => anyCall('POST', path, { device }, body);
const connector = 'evse/CP%201/connectors/2';

const pairs: readonly (readonly [call: Call, command: string])[] = [
  [
    post('registers/704', { points: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' } }, 1),
    'derbench set 704.WMaxLimPct=50 704.WMaxLimPctEna=ENABLED --device 1',
  ],
  [
    post('controls/grid', { voltage_pu: 0.95, outage: false, phase_angle_deg: null, duration_s: 5 }),
    'derbench grid voltage_pu=0.95 outage=no phase_angle_deg=none --for 5',
  ],
  [
    post('controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.4, duration_s: 1 } }, 0),
    'derbench grid sag --param residual_pu=0.4 --param duration_s=1 --device 0',
  ],
  [post('controls/environment', { irradiance_w_m2: null }), 'derbench weather irradiance_w_m2=none'],
  [post('controls/time', { mode: 'paused' }), 'derbench time pause'],
  [post('controls/time', { mode: 'accelerated', rate: 60 }), 'derbench time x60'],
  [post('controls/time/step', { ticks: 3 }), 'derbench time step 3'],
  [post('faults', { clear: true }), 'derbench fault clear'],
  [
    post('faults', {
      inject: [{ kind: 'scale', protocol: 'modbus', points: ['701.W', '701.Var'], factor: 0.5, duration_s: 9 }],
    }),
    'derbench fault scale protocol=modbus points=701.W,701.Var factor=0.5 --for 9',
  ],
  [post('site', { export_limit_kw: 30 }), 'derbench limit --export 30kW'],
  [post('site', { export_limit_kw: null }, 4), 'derbench limit --export off --device 4'],
  [post(`${connector}/plug`, { ev: { soc_pct: 40 } }), "derbench plug 'CP 1:2' --soc 40"],
  [post(`${connector}/unplug`), "derbench unplug 'CP 1:2'"],
  [post(`${connector}/start`, {}), "derbench charge 'CP 1:2'"],
  [post(`${connector}/suspend`, { by: 'evse' }), "derbench pause 'CP 1:2'"],
];

describe('command of a call', () => {
  for (const [call, command] of pairs)
    it(command, async () => {
      expect(commandOf(call, origin)).to.equal(command);
      expect(await requestsOf(command)).to.deep.equal([{ ...call, body: call.body ?? {} }]);
    });

  it('writes the registers of a power limit', () => {
    const limit = post('grid-support/max-power', { enabled: true, limit_pct: 50 }, 0);
    expect(commandOf(limit, origin)).to.equal('derbench set 704.WMaxLimPct=50 704.WMaxLimPctEna=ENABLED --device 0');
  });

  it('names another simulator than that of the default address', () => {
    const call = post('controls/time', { mode: 'paused' });
    expect(commandOf(call, 'http://lab:9000')).to.equal('derbench time pause --url http://lab:9000');
  });

  it('starts a simulator with changed settings', () => {
    const settings = patch('settings', {
      body: { ocpp_enable: true, ocpp_csms_url: 'ws://lab:9000/x y', dnp3_port: 20000 },
    });
    expect(commandOf(settings, 'http://lab:9000')).to.equal(
      "derbench start --ocpp_enable yes --ocpp_csms_url 'ws://lab:9000/x y' --dnp3_port 20000",
    );
    expect(commandOf(patch('settings', { body: { mb_port: null } }), origin)).to.equal(null);
  });

  it('starts a simulator with a protocol that is switched on, lists by their separator', () => {
    const command = (path: string, body: object) => commandOf(post(path, body), origin);
    expect(command('dnp3/enable', { dnp3_remote_addr: [4, 5], dnp3_allowed_peers: ['CN=a,O=b', 'CN=c'] })).to.equal(
      "derbench start --dnp3_enable yes --dnp3_remote_addr 4,5 --dnp3_allowed_peers 'CN=a,O=b;CN=c'",
    );
    expect(command('csip/enable', {})).to.equal('derbench start --csip_client_enable yes');
    expect(command('ocpp/enable', { ocpp_csms_url: null })).to.equal(null);
  });

  it('is none where a member would be lost or read as another value', () => {
    const others: readonly Call[] = [
      del('devices/{index}', { params: { index: 1 } }),
      post('devices/1/start'),
      post('controls/grid', {}),
      post('controls/grid', { phases: [1, 1, 0] }),
      post('controls/grid/event', { event: null }),
      post('controls/grid/event', { event: 'normal' }),
      post('controls/time', { mode: 'wall_clock' }),
      post('controls/time/step', { until: '12:00' }),
      post('site', { export_limit_kw: 30, owner: 'rest:x' }),
      post('site', { import_limit_kw: 30 }),
      post('grid-support/max-power', { enabled: true, limit_pct: 50, reversion_time_s: 9 }),
      post('registers/704', { points: { X: null } }),
      post('registers/121', { points: { Name: '12' } }),
      post('faults', { inject: [{ kind: 'scale', name: '12' }] }),
      post('faults', { inject: [{ kind: 'scale', when: { tick: 3 } }] }),
      post('faults', { inject: [{ kind: 'a' }, { kind: 'b' }] }),
      post(`${connector}/plug`, { ev_side: true }),
      post(`${connector}/suspend`, { by: 'ev' }),
      post(`${connector}/start`, { id_token: 'A' }),
      anyCall('POST', 'controls/time', { owner: 1 }, { mode: 'paused' }),
    ];
    expect(others.map((call) => commandOf(call, origin))).to.deep.equal(others.map(() => null));
  });
});
