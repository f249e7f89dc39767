/** Examples of the description. Those of replies follow from the examples of requests in the table of protocols. */
import { maxActiveFaults } from '../../core/faults/registry.ts';
import { protocolFaults } from '../../fault-kinds/protocols.ts';
import type { FaultPath, FlatFault, ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { faultForms } from '../../fault-kinds/request.ts';
import type { FaultForms } from '../../fault-kinds/request.ts';
import { shownTarget } from '../../fault-kinds/targets.ts';
import { exampleTime } from '../common/schemas.ts';
import type { EndedFaultReply, FaultReply, FaultsReply } from './members.ts';

interface Course {
  readonly id: number;
  readonly strikes: number;
  /** seconds since the injection */
  readonly ageS: number;
}

function exampleFault({ protocol, kinds }: ProtocolFaults, forms: FaultForms, flat: FlatFault, course: Course) {
  const request = forms.request({ ...forms.ofProtocol(protocol).parse(flat), protocol }, 0);
  const { kind, deviceIndex = null, target = {}, parameters = {}, count = null, durationS = null } = request;
  const { id, strikes, ageS } = course;
  return {
    id,
    protocol,
    kind,
    layer: kinds.find((row) => row.kind === kind)?.layer ?? 'transport',
    device_index: deviceIndex,
    target: shownTarget(protocol, target),
    parameters: parameters as FaultReply['parameters'],
    when: null,
    count,
    remaining: count === null ? null : count - strikes,
    duration_s: durationS,
    remaining_s: durationS === null ? null : durationS - ageS,
    probability: 1,
    every: 1,
    seed: 1_193_480_713,
    profile: null,
    device_profile: null,
    occasions: strikes,
    strikes,
    began_at: exampleTime,
    source: 'rest' as const,
    source_detail: '127.0.0.1:50123',
  };
}

/** The first example of a protocol in force, and the second one, if it has two, ended by its count. */
export function exampleFaultsOf(row: ProtocolFaults, { examples }: FaultPath, forms: FaultForms): FaultsReply {
  const [flat, over] = examples;
  const fault: FaultReply = exampleFault(row, forms, flat, { id: 3, strikes: 12, ageS: 2.5 });
  if (over === undefined) return { faults: [fault], count: 1, total: 1, ended: [], limit: maxActiveFaults };
  const strikes = typeof over['count'] === 'number' ? over['count'] : 1;
  const ended: EndedFaultReply = {
    ...exampleFault(row, forms, over, { id: 2, strikes, ageS: 0 }),
    end: 'count',
    ended_at: exampleTime,
  };
  return { faults: [fault], count: 1, total: 1, ended: [ended], limit: maxActiveFaults };
}

interface Examples {
  readonly request: FlatFault;
  readonly reply: FaultsReply;
}

/** The examples of the first protocol with a path, for `faults`; without any there is nothing to show. */
export function exampleFaultsOfAll(protocols: readonly ProtocolFaults[], forms: FaultForms): Examples {
  for (const row of protocols) {
    if (row.rest === null) continue;
    const [bare] = row.rest.examples;
    const request = forms.schema.safeParse(bare).success ? bare : { ...bare, protocol: row.protocol };
    return { request, reply: exampleFaultsOf(row, row.rest, forms) };
  }
  return { request: { kind: '' }, reply: { faults: [], count: 0, total: 0, ended: [], limit: maxActiveFaults } };
}

/** Those of the product's catalogue. */
export const exampleFaults: FaultsReply = exampleFaultsOfAll(protocolFaults, faultForms).reply;

/** One kind, as `faults/kinds` has it. */
export const exampleFaultKinds = {
  kinds: [
    {
      protocol: 'modbus' as const,
      kind: 'late_write',
      layer: 'acceptance' as const,
      description: 'A write is acknowledged at once and takes effect later.',
      targets: ['address', 'registers', 'points'],
      parameters: [
        {
          name: 'delay_s',
          type: 'number',
          required: true,
          default: null,
          minimum: 0,
          maximum: 1e6,
          allowed: null,
          description: 'Delay, simulated s.',
        },
      ],
      parameters_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { delay_s: { type: 'number', minimum: 0, maximum: 1e6, description: 'Delay, simulated s.' } },
        required: ['delay_s'],
        additionalProperties: false,
      },
      target_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          address: {
            type: 'integer',
            minimum: 0,
            maximum: 65_535,
            description: 'First register, PDU address; default any.',
          },
          registers: {
            type: 'integer',
            minimum: 1,
            maximum: 65_536,
            description: 'Number of registers from `address` on; default 1.',
          },
          points: {
            minItems: 1,
            maxItems: 1000,
            type: 'array',
            items: { type: 'string', minLength: 1, maxLength: 80 },
            description:
              'Points, for example `704.WMaxLimPct`, groups, `705.Crv[1]`, or whole models, `704`; default all.',
          },
        },
        additionalProperties: false,
        dependentRequired: { registers: ['address'] },
      },
    },
  ],
  count: 1,
};

export const exampleFaultProfiles = {
  profiles: [
    {
      name: 'slow-answers',
      title: 'Answers take 0.3 to 0.8 s',
      description: 'A gateway that first polls its device over a slow line.',
      faults: [{ protocol: 'modbus' as const, kind: 'delay', delay_ms: 300, jitter_ms: 500 }],
    },
  ],
  count: 1,
};
