/** Every fault of a simulated device, and the errors and values that a client gets from it. */
import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import type { FaultTarget } from '../../../src/core/faults/kinds.ts';
import { faultKinds } from '../../../src/fault-kinds/protocols.ts';
import { createSunSpecClient } from '../../../src/sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { loopback, pointsOf } from '../../support/client.ts';
import { byTest } from '../../support/rig.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';
import { spentMs } from '../../support/spent.ts';

const timeoutMs = 400;
/** where a device answers each request: a busy machine does not reach it */
const patientMs = 10_000;
/** two attempts and a connection, and a margin for a busy machine */
const maxMs = 3 * timeoutMs + 1500;

const timeout = /^PEER_TIMEOUT: no answer from unit 1 within 0.4 s/;
const noMap = /^PEER_ERROR: unit 1 of tcp:\S+ has no SunSpec map/;
const closed = /^PEER_ERROR: the device closed the connection/;
const right = 'right';

interface Row {
  readonly kind: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly target?: FaultTarget;
  /** on an open connection; default: the true value */
  readonly read?: RegExp | number | null | typeof right;
  /** default: the written value reads back */
  readonly write?: RegExp | number | typeof right;
  /** of a new connection; default: all models, without a note */
  readonly connect?: RegExp | typeof right;
  /** the same for all three */
  readonly all?: RegExp;
  /** with a fault that strikes once, on the first request; default: no effect is left */
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
  { kind: 'wrong_byte_count', all: /the answer has \d+ octets of data, \d+ were requested/ },
  { kind: 'duplicate' },
  { kind: 'stray_octets', all: /^PEER_/ },
  {
    kind: 'stray_octets',
    parameters: { place: 'instead' },
    all: /1 octets of an unfinished answer came/,
  },
  { kind: 'echo', all: /^PEER_/ },
  { kind: 'bad_crc' },
  { kind: 'split', parameters: { octets: 50, gap_ms: 1 } },
  { kind: 'disconnect', all: closed },
  { kind: 'disconnect', target: { functions: [6, 16] }, write: closed, once: { write: closed } },
  {
    kind: 'connection_limit',
    parameters: { connections: 0, policy: 'refuse' },
    connect: /^PEER_ERROR: cannot connect/,
    // counted, it resets the connection, which the client may learn as it connects or later
    once: { connect: /^PEER_ERROR: (cannot connect|the device closed|the connection broke)|^16 models$/ },
  },
  { kind: 'reconnect_pause', parameters: { pause_ms: 0 } },
  { kind: 'request_interval', parameters: { min_ms: 0 } },
  { kind: 'greeting', parameters: { octets: [0, 80, 194, 1, 2, 3] }, connect: /^PEER_/ },
  { kind: 'connection_limit', parameters: { connections: 1, policy: 'replace_oldest' } },
  { kind: 'deaf_after_connect', parameters: { deaf_ms: 60_000 }, connect: timeout, once: { connect: timeout } },
  { kind: 'outage', parameters: { mode: 'silent' }, all: timeout },
  {
    kind: 'outage',
    parameters: { mode: 'refuse' },
    all: /^PEER_(TIMEOUT|ERROR): (no answer|the device closed|the connection broke|cannot connect)/,
  },
  {
    kind: 'outage',
    parameters: { mode: 'close' },
    all: /^PEER_(TIMEOUT|ERROR): (no answer|the device closed|the connection broke|cannot connect)/,
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
  { kind: 'lenient_writes' },
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
    connect: /^16 models; L of model 1 at 40002 is 64, but the chain continues after 66 registers$/,
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
    connect: /^16 models; model 702 is at 40226, 1 register after the place to which the chain leads, 40225$/,
  },
  {
    kind: 'shift',
    parameters: { model: 702, registers: -2 },
    connect: /^16 models; model 702 is at 40223, 2 registers before the place to which the chain leads, 40225$/,
  },
  {
    kind: 'shift',
    parameters: { model: 1, registers: 1 },
    connect: /^16 models; model 1 is at 40003, 1 register after/,
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

/** Faults that leave requests without an answer. */
const silencing = new Set([
  ...['delay', 'drop', 'truncate', 'garbage', 'wrong_unit', 'wrong_transaction', 'wrong_function', 'wrong_byte_count'],
  ...['stray_octets', 'deaf_after_connect', 'outage', 'ignore_unit', 'reboot'],
]);

/** Rows are tried on so many devices at once: most of the time a client waits for an answer that does not come. */
const lanes = 20;

/** The steps of a client at one device of the simulator, whose faults are its own. */
class Lane {
  readonly app: App;
  readonly port: number;
  readonly trueW: number;
  readonly #index: number;
  #client: SunSpecClientAdapter = createSunSpecClient();
  #timeoutMs = timeoutMs;

  constructor(app: App, index: number) {
    this.app = app;
    this.#index = index;
    this.port = modbusEndpoint(app, index).port;
    this.trueW = app.plant.device(index).bank.map.m701.W!;
  }

  /** Runs a test of a fault with a connected client, without any fault of before. */
  async attempt(kind: string, test: (client: SunSpecClientAdapter) => Promise<void>): Promise<void> {
    this.#client = createSunSpecClient();
    this.#timeoutMs = silencing.has(kind) ? timeoutMs : patientMs;
    try {
      this.app.plant.device(this.#index).bank.transact(byTest, ({ m704 }) => {
        m704.WMaxLimPct = 100;
      });
      await this.#client.connect(loopback(this.port, { timeoutMs: this.#timeoutMs }));
      await test(this.#client);
    } finally {
      this.clear();
      await this.#client.stop();
    }
  }

  inject({ kind, parameters = {}, target }: Row, count?: number): void {
    const { protocol } = faultKinds.find((each) => each.kind === kind)!;
    const extras = { ...(target && { target }), ...(count !== undefined && { count }) };
    this.app.faults.inject([{ protocol, kind, parameters, deviceIndex: this.#index, ...extras }], { source: 'rest' });
  }

  clear(): void {
    this.app.faults.clear({ deviceIndex: this.#index });
  }

  async readW(): Promise<unknown> {
    return pointsOf(await this.#client.readModel(701, 0, true)).get('W')!.value;
  }

  async writeLimit(): Promise<unknown> {
    const {
      match,
      points: [point],
    } = await this.#client.writePoints(704, 0, { WMaxLimPct: 60 });
    expect(match).to.equal(point!.readBack.value === 60);
    return point!.readBack.value;
  }

  async connect(): Promise<string> {
    const { discovery } = await this.#client.connect(loopback(this.port, { timeoutMs: this.#timeoutMs }));
    return [`${discovery!.models.length} models`, ...discovery!.notes].join('; ');
  }

  async expectWell(): Promise<void> {
    check('connect', await outcome(this.connect()), right, '16 models');
    check('read', await outcome(this.readW()), right, this.trueW);
    check('write', await outcome(this.writeLimit()), right, 60);
  }

  async exercise({ read, write, connect: connecting, all }: Partial<Row>): Promise<void> {
    check('read', await outcome(this.readW()), read ?? (read === null ? null : all), this.trueW);
    check('write', await outcome(this.writeLimit()), write ?? all, 60);
    check('connect', await outcome(this.connect()), connecting ?? all, '16 models');
  }
}

/** The result of a step, in time: a value, or `CODE: words`. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  const begun = spentMs();
  const result = await work.catch(
    (error: unknown) => `${(error as { code: string }).code}: ${(error as Error).message}`,
  );
  expect(spentMs() - begun).to.be.below(maxMs);
  return result;
}

function check(what: string, seen: unknown, wanted: Row['read'], good: unknown): void {
  if (wanted instanceof RegExp) expect(String(seen), what).to.match(wanted);
  else expect(seen, what).to.equal(wanted === right || wanted === undefined ? good : wanted);
}

async function expectNoError(ended: Promise<unknown>): Promise<void> {
  const error = await ended;
  if (error !== null) throw error as Error;
}

describe('SunSpec client and every fault of a device', function () {
  this.timeout(30_000);
  let app: App;
  let first: Lane;

  type Run = (lane: Lane) => Promise<void>;
  /** the tests of all rows, and what each comes to: null, or the error it fails with */
  const runs: { readonly run: Run; readonly end: (error: unknown) => void }[] = [];

  /** Declares a test that runs beside others, on a device that is free. */
  function beside(title: string, run: Run): void {
    const ended = new Promise<unknown>((end) => runs.push({ run, end }));
    it(title, () => expectNoError(ended));
  }

  async function work(lane: Lane): Promise<void> {
    for (let next = runs.shift(); next !== undefined; next = runs.shift()) {
      const { run, end } = next;
      await run(lane).then(() => {
        end(null);
      }, end);
    }
  }

  before(async () => {
    ({ app } = await startApp(Array.from({ length: lanes + 1 }, () => 'PV-3Phase')));
    await app.plant.step(4);
    const [own, ...others] = app.plant.devices.map(({ index }) => new Lane(app, index));
    first = own!;
    for (const { trueW } of [first, ...others]) expect(trueW).to.be.greaterThan(9000);
    for (const lane of others) void work(lane);
  });
  after(() => app.stop());

  for (const row of rows) {
    const { kind, parameters = {}, once = {} } = row;
    const title = `${kind} ${Object.keys(parameters).length > 0 ? JSON.stringify(parameters) : ''}`.trim();
    beside(`${title}: the right value or a precise error, in time, and afterwards all is well`, (lane) =>
      lane.attempt(kind, async () => {
        lane.inject(row);
        await lane.exercise(row);
        lane.clear();
        await lane.expectWell();
      }),
    );

    beside(`${title}, once`, (lane) =>
      lane.attempt(kind, async () => {
        lane.inject(row, 1);
        await lane.exercise(once);
      }),
    );
  }

  it('reboot: silent while the device is off, then well', async () => {
    const fresh = await startApp(['PV-3Phase']);
    const lane = new Lane(fresh.app, 0);
    await lane.attempt('reboot', async () => {
      fresh.app.faults.inject([{ protocol: 'device', kind: 'reboot', parameters: { off_s: 3 } }], { source: 'rest' });
      expect(await outcome(lane.readW())).to.match(timeout);
      await fresh.app.plant.step(10);
      expect(await outcome(lane.readW())).to.be.a('number');
    });
    await fresh.app.stop();
  });

  it('wrong_transaction {"mode":"zero"}: all is well where that is allowed', () =>
    first.attempt('wrong_transaction', async (client) => {
      first.inject({ kind: 'wrong_transaction', parameters: { mode: 'zero' } });
      const { discovery } = await client.connect(loopback(first.port, { timeoutMs, transactionIds: 'zero' }));
      expect([discovery!.models.length, discovery!.notes]).to.deep.equal([16, []]);
      expect([await first.readW(), await first.writeLimit()]).to.deep.equal([first.trueW, 60]);
    }));

  it('is tried with every kind that there is', () => {
    const tried = new Set([...rows.map(({ kind }) => kind), 'reboot']);
    expect(
      faultKinds
        .filter(({ protocol, kind }) => (protocol === 'modbus' || protocol === 'device') && !tried.has(kind))
        .map(({ kind }) => kind),
    ).to.deep.equal([]);
  });
});
