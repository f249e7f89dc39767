/** Random faults of every kind for fast-check: mostly valid for a device, with waits short enough for a test. */
import fc from 'fast-check';
import type { FaultKind, FaultRequest } from '../../src/core/faults/kinds.ts';
import { faultKinds } from '../../src/fault-kinds/protocols.ts';
import { falsifySwitches } from '../../src/fault-kinds/modbus-map.ts';
import type { Layout } from '../../src/sunspec/map/layout.ts';
import { pointName } from '../../src/sunspec/map/view.ts';
import type { MapTargetName } from '../../src/fault-kinds/rows.ts';

type Parameters = fc.Arbitrary<object>;

const whole = (min: number, max: number) => fc.integer({ min, max });
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const none: Parameters = fc.constant({});
const code = whole(1, 255);
const hidden = fc.record({ carried_out: fc.boolean() });
const bit = fc.array(whole(0, 30), { maxLength: 5 });

const wire: Readonly<Record<string, Parameters>> = {
  exception: fc.record({ code, carried_out: fc.boolean() }),
  delay: fc.record({ delay_ms: whole(0, 3), jitter_ms: whole(0, 3) }),
  drop: hidden,
  disconnect: hidden,
  truncate: fc.record({ octets: whole(0, 260) }),
  garbage: fc.record({ octets: whole(1, 260) }),
  wrong_unit: fc.oneof(none, fc.record({ unit_id: whole(0, 255) })),
  wrong_transaction: fc.record({ mode: fc.constantFrom('zero', 'other') }),
  split: fc.record({ octets: whole(1, 260), gap_ms: whole(0, 1) }),
  connection_limit: fc.record({ connections: whole(0, 3), policy: fc.constantFrom('refuse', 'replace_oldest') }),
  reconnect_pause: fc.record({ pause_ms: whole(0, 3) }),
  request_interval: fc.record({ min_ms: whole(0, 3), result: fc.constantFrom('silent', 'busy', 'disconnect') }),
  greeting: fc.record({ octets: fc.array(whole(0, 255), { minLength: 1, maxLength: 8 }) }),
  stray_octets: fc.record({
    place: fc.constantFrom('before', 'behind', 'instead'),
    octets: fc.array(whole(0, 255), { minLength: 1, maxLength: 8 }),
  }),
  deaf_after_connect: fc.record({ deaf_ms: whole(0, 3) }),
  outage: fc.record({ mode: fc.constantFrom('silent', 'refuse', 'close') }),
  ignore_unit: fc.record({ unit_ids: fc.array(whole(0, 5), { minLength: 1, maxLength: 3 }) }),
  alias_unit: fc.record({ unit_ids: fc.array(whole(0, 255), { minLength: 1, maxLength: 5 }) }),
};

const writes: Readonly<Record<string, Parameters>> = {
  write_lock: fc.record({ code }),
  late_write: fc.record({ delay_s: number(0, 10) }),
  alter_write: fc.oneof<Parameters[]>(
    fc.record({ factor: number(-1e6, 1e6) }),
    fc.record({ offset: number(-1e15, 1e15) }),
    fc.record({ value: whole(-10, 100) }),
  ),
  partial_write: fc.record({ landing_points: whole(0, 5) }),
  exception_code: fc.record({
    rule: fc.constantFrom('read_only', 'not_implemented', 'bad_value', 'illegal_address', 'partial_point'),
    code,
  }),
};

const effects: Readonly<Record<string, Parameters>> = {
  late_effect: fc.record({ delay_s: number(0, 10) }),
  adoption: fc.record({ result: fc.constantFrom('lies', 'stuck', 'failed') }),
  silent_revert: fc.record({ after_s: number(0, 10) }),
  second_limiter: fc.record({ limit_pct: whole(0, 100) }),
  reboot: fc.record({ off_s: number(0, 10), forget: fc.boolean() }),
  alarm: fc.constant({ codes: ['over_temp', 'memory_loss'] }),
};

function reads(factors: readonly string[], models: readonly number[]): Readonly<Record<string, Parameters>> {
  const model = fc.constantFrom(...models);
  return {
    value: fc.oneof<Parameters[]>(
      fc.record({ value: fc.oneof(number(-1e15, 1e15), fc.constantFrom('ENABLED', 'x')) }),
      fc.record({ extreme: fc.constantFrom('min', 'max', 'zero') }),
      fc.record({ raw: fc.array(whole(0, 65_535), { minLength: 1, maxLength: 4 }) }),
    ),
    scale: fc.record({ factor: number(-1e6, 1e6), offset: number(-1e15, 1e15) }),
    noise: fc.record({ amplitude: number(0, 1e15) }),
    lag: fc.record({ delay_s: number(0.001, 100) }),
    bits: fc.record({ set: bit, clear: bit }),
    dynamic_scale: fc.record({
      scale_factor: fc.constantFrom(...factors),
      steps: fc
        .uniqueArray(fc.record({ above_pct: whole(0, 200), shift: whole(-10, 10) }), {
          minLength: 1,
          maxLength: 3,
          selector: (step) => step.above_pct,
        })
        .map((steps) => steps.sort((a, b) => a.above_pct - b.above_pct)),
    }),
    falsify: fc.record({ switch: fc.constantFrom(...falsifySwitches) }),
    base: fc.record({ address: fc.constantFrom(0, 39_999, 40_001, 50_000, 63_000) }),
    model_length: fc.record({ model, length: whole(0, 65_535) }),
    shift: fc.record({ model, registers: whole(-100, 100).filter((registers) => registers !== 0) }),
    chain_end: fc.record({ variant: fc.constantFrom('zeros', 'exception', 'absent_length') }),
    hide_model: fc.record({ model }),
    model_id: fc.record({ model, id: whole(1, 65_534) }),
  };
}

/** Any fault for one of these devices, or for all of them. */
export function anyFault(layouts: readonly Layout[]): fc.Arbitrary<FaultRequest> {
  const slots = layouts.flatMap((layout) => layout.slots);
  const models = [...new Set(layouts.flatMap((layout) => layout.models.map(({ def }) => def.id)))];
  const factors = slots.filter(({ def }) => def.type === 'sunssf').map(pointName);
  const parametersOf = { ...wire, ...writes, ...effects, ...reads(factors, models) };
  const point = fc.oneof(fc.constantFrom(...slots.map(pointName)), fc.constantFrom(...models.map(String)));
  const targets = {
    points: fc.array(point, { minLength: 1, maxLength: 3 }),
    registers: fc.record({ address: whole(40_000, 41_500), count: whole(1, 200) }),
    functions: fc.array(fc.constantFrom(3, 4, 6, 16), { minLength: 1, maxLength: 2 }),
  };
  const one = (row: FaultKind) =>
    fc.record(
      {
        protocol: fc.constant(row.protocol),
        kind: fc.constant(row.kind),
        parameters: (parametersOf[row.kind] ?? none) as fc.Arbitrary<Record<string, unknown>>,
        deviceIndex: fc.constantFrom(null, ...layouts.keys()),
        target: fc.record(Object.fromEntries(row.targets.map((name) => [name, targets[name as MapTargetName]])), {
          requiredKeys: [],
        }),
        count: whole(1, 5),
        every: whole(1, 3),
        probability: fc.constantFrom(0.5, 1),
        durationS: number(0.01, 30),
        when: fc.constantFrom({ point: '701.W', below: 1 }, { point: '704.WMaxLimPctEna', equals: 'ENABLED' }),
      },
      { requiredKeys: ['protocol', 'kind', 'parameters', 'deviceIndex'] },
    );
  const ofMap = faultKinds.filter(({ protocol }) => protocol === 'modbus' || protocol === 'device');
  return fc.constantFrom(...ofMap).chain(one);
}
