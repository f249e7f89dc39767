/** Every fault that a simulated device can have, and what the client of another process would make of it. */
import { expect } from 'chai';
import type { App } from '../../../src/app.ts';
import type { FaultTarget } from '../../../src/core/faults/kinds.ts';
import { faultKinds } from '../../../src/fault-kinds/all.ts';
import { createSunSpecClient } from '../../../src/sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { loopback, pointsOf } from '../../support/client.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';

const timeoutMs = 200;
/** two attempts and a connection, and what a busy machine takes */
const longestMs = 3 * timeoutMs + 1500;

const timeout = /^PEER_TIMEOUT: no answer from unit 1 within 0\.2 s/;
const noMap = /^PEER_ERROR: unit 1 of tcp:\S+ has no SunSpec map/;
const closed = /^PEER_ERROR: the device closed the connection/;
const right = 'right';

interface Row {
  readonly kind: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly target?: FaultTarget;
  /** of a connection that is there; default: the true value */
  readonly read?: RegExp | number | null | typeof right;
  /** default: what was written reads back */
  readonly write?: RegExp | number | typeof right;
  /** of a new connection; default: all models, without a note */
  readonly connect?: RegExp | typeof right;
  /** the same for all three */
  readonly all?: RegExp;
  /** what the first request meets, when the fault strikes once; default: nothing is amiss any more */
  readonly once?: Partial<Pick<Row, 'read' | 'write' | 'connect'>>;
}

const exceptionOf = (code: number) => new RegExp(`exception ${code} `);
const power: FaultTarget = { points: ['701.W'] };
const limit: FaultTarget = { points: ['704.WMaxLimPct'] };

const rows: readonly Row[] = [
  { kind: 'exception', parameters: { code: 4 }, all: exceptionOf(4) },
  { kind: 'exception', parameters: { code: 6 }, all: exceptionOf(6) },
  { kind: 'exception', parameters: { code: 3, quantity_min: 60 } },
  { kind: 'exception', parameters: { code: 1, quantity_min: 1, quantity_max: 1 }, target: { functions: [6] } },
  {
    kind: 'exception',
    parameters: { code: 4, carried_out: true },
    target: { functions: [6] },
    write: /^PEER_ERROR: exception 4 .* for WMaxLimPct/,
    once: { write: exceptionOf(4) },
  },
  { kind: 'delay', parameters: { delay_ms: 10, jitter_ms: 5 } },
  { kind: 'delay', parameters: { delay_ms: 5000 }, all: timeout, once: { read: timeout } },
  { kind: 'drop', all: timeout },
  {
    kind: 'drop',
    parameters: { carried_out: true },
    target: { functions: [6] },
    write: /whether this was carried out is not known/,
    once: { write: /not known/ },
  },
  { kind: 'truncate', parameters: { octets: 9 }, all: /PEER_TIMEOUT: .*; 9 octets of an unfinished answer came/ },
  { kind: 'truncate', parameters: { octets: 3 }, all: /PEER_TIMEOUT: .*; 3 octets of an unfinished answer came/ },
  {
    kind: 'garbage',
    parameters: { octets: 100 },
    all: /^PEER_(ERROR: the answer (is not Modbus TCP|makes no sense)|TIMEOUT: )/,
  },
  { kind: 'garbage', parameters: { octets: 3 }, all: /3 octets of an unfinished answer came/ },
  { kind: 'wrong_unit', all: /makes no sense, .*expected address 1 got 2/ },
  {
    kind: 'wrong_transaction',
    parameters: { mode: 'zero' },
    all: /an answer came with transaction id 0, which is not that of the request/,
  },
  {
    kind: 'wrong_transaction',
    parameters: { mode: 'other' },
    all: /an answer came with transaction id \d+, which is not that of the request/,
  },
  { kind: 'wrong_function', all: /makes no sense, .*expected code 3 got/ },
  { kind: 'wrong_byte_count', all: /the answer says \d+ octets of data, \d+ were asked for/ },
  { kind: 'duplicate' },
  { kind: 'bad_crc' },
  { kind: 'split', parameters: { octets: 50, gap_ms: 1 } },
  { kind: 'disconnect', all: closed },
  { kind: 'disconnect', target: { functions: [6, 16] }, write: closed, once: { write: closed } },
  { kind: 'connection_limit', parameters: { connections: 0, policy: 'refuse' }, connect: closed },
  { kind: 'connection_limit', parameters: { connections: 1, policy: 'replace_oldest' } },
  { kind: 'deaf_after_connect', parameters: { deaf_ms: 60_000 }, connect: timeout, once: { connect: timeout } },
  { kind: 'outage', parameters: { mode: 'silent' }, all: timeout },
  {
    kind: 'outage',
    parameters: { mode: 'refuse' },
    all: /^PEER_(TIMEOUT|ERROR): (no answer|the device closed|cannot connect)/,
  },
  {
    kind: 'outage',
    parameters: { mode: 'close' },
    all: /^PEER_(TIMEOUT|ERROR): (no answer|the device closed|cannot connect)/,
  },
  { kind: 'ignore_unit', parameters: { unit_ids: [1] }, all: timeout },
  { kind: 'alias_unit', parameters: { unit_ids: [7] } },

  { kind: 'ignore_write', target: limit, write: 100, once: { write: 100 } },
  {
    kind: 'write_lock',
    write: /exception 2 .* for WMaxLimPct; nothing was written before$/,
    once: { write: exceptionOf(2) },
  },
  { kind: 'late_write', parameters: { delay_s: 60 }, target: limit, write: 100, once: { write: 100 } },
  { kind: 'alter_write', parameters: { factor: 0.5 }, target: limit, write: 30, once: { write: 30 } },
  { kind: 'partial_write' },
  { kind: 'exception_code', parameters: { rule: 'bad_value', code: 9 } },

  { kind: 'freeze', target: limit, write: 100, once: { write: right } },
  { kind: 'not_implemented', target: power, read: null, once: { read: null } },
  { kind: 'value', parameters: { extreme: 'max' }, target: power, read: 32_767, once: { read: 32_767 } },
  { kind: 'value', parameters: { raw: [7] }, target: power, read: 7, once: { read: 7 } },
  { kind: 'scale', parameters: { factor: 0, offset: 12 }, target: power, read: 12, once: { read: 12 } },
  { kind: 'noise', parameters: { amplitude: 0 }, target: power },
  { kind: 'lag', parameters: { delay_s: 5 }, target: power },
  { kind: 'bits', parameters: { set: [0] }, target: { points: ['701.Alrm'] } },
  {
    kind: 'dynamic_scale',
    parameters: { scale_factor: '701.W_SF', steps: [{ shift: 1 }] },
    read: 9440,
    once: { read: 9440 },
  },
  { kind: 'falsify', parameters: { switch: 'MeasZeroP' }, read: 0, once: { read: 0 } },
  {
    kind: 'falsify',
    parameters: { switch: 'ChangeCommonModelID' },
    connect: /^16 models; the first model is 2, not 1$/,
    once: { connect: /^16 models/ },
  },
  {
    kind: 'falsify',
    parameters: { switch: 'ChangeCommonModelLength' },
    connect: /^16 models; L of model 1 at 40002 is 64, but the chain goes on behind 66 registers$/,
    once: { connect: /^16 models/ },
  },
  { kind: 'strict_points' },
  { kind: 'base', parameters: { address: 50_000 } },
  { kind: 'base', parameters: { address: 1234 }, all: noMap },
  {
    kind: 'base',
    parameters: { address: 40_001 },
    all: /^PEER_ERROR: .*; the marker is at 40001: connect with base_address 40001$/,
  },
  {
    kind: 'model_length',
    parameters: { model: 701, length: 151 },
    connect: /^16 models; L of model 701 at 40070 is 151, but/,
  },
  { kind: 'model_length', parameters: { model: 703, length: 19 }, connect: /^16 models; L of model 703/ },
  { kind: 'model_length', parameters: { model: 705, length: 10 }, connect: /^16 models; L of model 705/ },
  { kind: 'common_length_65' },
  {
    kind: 'shift',
    parameters: { model: 702, registers: 1 },
    connect: /^16 models; model 702 is at 40226, 1 register behind the place to which the chain leads, 40225$/,
  },
  {
    kind: 'shift',
    parameters: { model: 702, registers: -2 },
    connect: /^16 models; model 702 is at 40223, 2 registers before the place to which the chain leads, 40225$/,
  },
  {
    kind: 'shift',
    parameters: { model: 1, registers: 1 },
    connect: /^16 models; model 1 is at 40003, 1 register behind/,
  },
  {
    kind: 'shift',
    parameters: { model: 702, registers: 5, fill: 0 },
    write: /^UNKNOWN_RESOURCE: The device does not have model 704; it has 1, 701\.$/,
    connect:
      /^2 models; the chain ends with model 0 at 40225 in place of 65535; before it is model 701 at 40070 with 153 registers$/,
  },
  {
    kind: 'shift',
    parameters: { model: 702, registers: 5 },
    write: /^UNKNOWN_RESOURCE: The device does not have model 704/,
    connect:
      /^2 models; model 32768 at 40225 says that it has 32768 registers, 25309 are left; before it is model 701 at 40070 with 153 registers$/,
  },
  {
    kind: 'chain_end',
    parameters: { variant: 'zeros' },
    connect:
      /^16 models; the chain ends with model 0 at \d+ in place of 65535; before it is model 715 at \d+ with 7 registers$/,
  },
  {
    kind: 'chain_end',
    parameters: { variant: 'exception' },
    connect:
      /^16 models; exception 2 .* where the next model or the end should be; before it is model 715 at \d+ with 7 registers$/,
  },
  { kind: 'chain_end', parameters: { variant: 'absent_length' }, connect: /^16 models$/ },
  {
    kind: 'hide_model',
    parameters: { model: 701 },
    read: /^UNKNOWN_RESOURCE: The device does not have model 701/,
    connect: /^15 models$/,
  },
  { kind: 'hide_model', parameters: { model: 702 }, connect: /^15 models$/ },
  {
    kind: 'model_id',
    parameters: { model: 701, id: 64_999 },
    read: /^UNKNOWN_RESOURCE: The device does not have model 701; it has 1, 64999/,
  },

  { kind: 'ignore_effect' },
  { kind: 'late_effect', parameters: { delay_s: 5 } },
  { kind: 'enable_edge' },
  { kind: 'adoption', parameters: { result: 'failed' } },
  { kind: 'silent_revert', parameters: { after_s: 5 } },
  { kind: 'second_limiter', parameters: { limit_pct: 10 } },
  { kind: 'alarm', parameters: { codes: ['over_temp'] } },
];

describe('SunSpec client and every fault of a device', () => {
  let app: App;
  let port: number;
  let client: SunSpecClientAdapter;
  let trueW: number;

  before(async () => {
    ({ app } = await startApp(['PV-3Phase']));
    await app.plant.step(4);
    port = modbusEndpoint(app, 0).port;
    trueW = app.plant.device(0).bank.map.m701.W!;
    expect(trueW).to.be.greaterThan(9000);
  });
  after(() => app.stop());

  beforeEach(async () => {
    client = createSunSpecClient();
    await client.connect(loopback(port, { timeoutMs: 2000 }));
    await client.writePoints(704, 0, { WMaxLimPct: 100 });
    await client.connect(loopback(port, { timeoutMs }));
  });
  afterEach(async () => {
    app.faults.clear();
    await client.stop();
  });

  /** What a step comes to, in time: a value, or `CODE: words`. */
  async function outcome(work: Promise<unknown>): Promise<unknown> {
    const begun = performance.now();
    const result = await work.catch(
      (error: unknown) => `${(error as { code: string }).code}: ${(error as Error).message}`,
    );
    expect(performance.now() - begun).to.be.below(longestMs);
    return result;
  }
  const readW = async () => pointsOf(await client.readModel(701, 0, true)).get('W')!.value;
  async function writeLimit(): Promise<unknown> {
    const {
      match,
      points: [point],
    } = await client.writePoints(704, 0, { WMaxLimPct: 60 });
    expect(match).to.equal(point!.readBack.value === 60);
    return point!.readBack.value;
  }
  async function connect(): Promise<string> {
    const { discovery } = await client.connect(loopback(port, { timeoutMs }));
    return [`${discovery!.models.length} models`, ...discovery!.notes].join('; ');
  }

  function check(what: string, seen: unknown, wanted: Row['read'], good: unknown): void {
    if (wanted instanceof RegExp) expect(String(seen), what).to.match(wanted);
    else expect(seen, what).to.equal(wanted === right || wanted === undefined ? good : wanted);
  }

  async function exercise({ read, write, connect: connecting, all }: Partial<Row>): Promise<void> {
    check('read', await outcome(readW()), read ?? (read === null ? null : all), trueW);
    check('write', await outcome(writeLimit()), write ?? all, 60);
    check('connect', await outcome(connect()), connecting ?? all, '16 models');
  }

  function inject({ kind, parameters = {}, target }: Row, count?: number): void {
    const { protocol } = faultKinds.find((each) => each.kind === kind)!;
    app.faults.inject(
      [{ protocol, kind, parameters, ...(target && { target }), ...(count !== undefined && { count }) }],
      { source: 'rest' },
    );
  }

  for (const row of rows) {
    const { kind, parameters = {}, once = {} } = row;
    const title = `${kind} ${Object.keys(parameters).length > 0 ? JSON.stringify(parameters) : ''}`.trim();
    it(`${title}: the right value or a precise error, in time, and afterwards all is well`, async () => {
      inject(row);
      await exercise(row);
      app.faults.clear();
      await client.connect(loopback(port, { timeoutMs }));
      await exercise({});
    });

    it(`${title}, once`, async () => {
      inject(row, 1);
      await exercise(once);
    });
  }

  it('reboot: silent while the device is off, then well', async () => {
    const fresh = await startApp(['PV-3Phase']);
    const at = modbusEndpoint(fresh.app, 0).port;
    await client.connect(loopback(at, { timeoutMs }));
    fresh.app.faults.inject([{ protocol: 'device', kind: 'reboot', parameters: { off_s: 3 } }], { source: 'rest' });
    expect(await outcome(readW())).to.match(timeout);
    await fresh.app.plant.step(10);
    expect(await outcome(readW())).to.be.a('number');
    await fresh.app.stop();
  });

  it('wrong_transaction {"mode":"zero"}: all is well where that is allowed', async () => {
    inject({ kind: 'wrong_transaction', parameters: { mode: 'zero' } });
    const { discovery } = await client.connect(loopback(port, { timeoutMs, transactionIds: 'zero' }));
    expect([discovery!.models.length, discovery!.notes]).to.deep.equal([16, []]);
    expect([await readW(), await writeLimit()]).to.deep.equal([trueW, 60]);
  });

  it('is tried with every kind that there is', () => {
    const tried = new Set([...rows.map(({ kind }) => kind), 'reboot']);
    expect(
      faultKinds
        .filter(({ protocol, kind }) => (protocol === 'modbus' || protocol === 'device') && !tried.has(kind))
        .map(({ kind }) => kind),
    ).to.deep.equal([]);
  });
});
