import type { z } from 'zod';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { EndedFault, FaultRegistry } from '../../core/faults/registry.ts';
import { maxActiveFaults } from '../../core/faults/registry.ts';
import type { FaultKind } from '../../core/faults/kinds.ts';
import { mapTargetOf } from '../../fault-kinds/targets.ts';
import { targetMembersOf } from '../../fault-kinds/request.ts';
import type { endedFaultSchema, faultSchema, faultsSchema, faultKindsSchema, FaultParameterReply } from './schemas.ts';
import { z as zod } from '../description/zod.ts';

type FaultReply = z.output<typeof faultSchema>;

/** A fault as the interface shows it. */
function faultReply(fault: ActiveFault, remainingS: number | null): FaultReply {
  const { facts } = fault;
  const { points, registers, functions } = mapTargetOf(facts.target);
  return {
    id: facts.id,
    protocol: fault.protocol,
    kind: facts.kind.kind,
    layer: fault.layer,
    device_index: facts.deviceIndex,
    target: {
      points: points === undefined ? null : [...points],
      address: registers?.address ?? null,
      registers: registers?.count ?? null,
      function: functions === undefined ? null : [...functions],
    },
    parameters: facts.parameters as FaultReply['parameters'],
    when: facts.when === null ? null : { ...facts.when },
    count: facts.count,
    remaining: fault.remaining,
    duration_s: facts.durationS,
    remaining_s: remainingS,
    probability: facts.probability,
    every: facts.every,
    seed: facts.seed,
    profile: facts.profile,
    occasions: fault.occasions,
    strikes: fault.strikeCount,
    began_at: new Date(facts.beganAtMs).toISOString(),
    source: facts.by.source,
    source_detail: facts.by.peer ?? null,
  };
}

function endedReply({ fault, end, endedAtMs }: EndedFault): z.output<typeof endedFaultSchema> {
  const left = fault.facts.durationS === null ? null : 0;
  return { ...faultReply(fault, left), end, ended_at: new Date(endedAtMs).toISOString() };
}

/**
 * Faults in force and ended faults; expires faults first.
 * @param concerns selects the faults
 */
export function faultsReply(
  registry: FaultRegistry,
  concerns: (fault: ActiveFault) => boolean = () => true,
): z.output<typeof faultsSchema> {
  registry.expire();
  const faults = registry.active.filter(concerns).map((fault) => faultReply(fault, registry.remainingS(fault)));
  return {
    faults,
    count: faults.length,
    ended: registry.ended.filter(({ fault }) => concerns(fault)).map(endedReply),
    limit: maxActiveFaults,
  };
}

/** A parameter as JSON Schema. */
interface ParameterNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly items?: ParameterNode;
  readonly anyOf?: readonly ParameterNode[];
}

function typeOf({ type, anyOf }: ParameterNode): string {
  if (anyOf) return anyOf.map(typeOf).join('|');
  return typeof type === 'string' || type === undefined ? (type ?? 'object') : type.join('|');
}

function parameterReply(name: string, node: ParameterNode, required: boolean): FaultParameterReply {
  const values = node.items ?? node.anyOf?.find(({ minimum }) => minimum !== undefined) ?? node;
  return {
    name,
    type: typeOf(node),
    required,
    default: node.default ?? null,
    minimum: values.minimum ?? null,
    maximum: values.maximum ?? null,
    allowed: values.enum ? [...values.enum] : null,
    description: node.description ?? '',
  };
}

function parametersOf({ parameters }: FaultKind): FaultParameterReply[] {
  const { properties = {}, required = [] } = zod.toJSONSchema(parameters, { io: 'input' });
  return Object.entries(properties).map(([name, node]) =>
    parameterReply(name, node as ParameterNode, required.includes(name)),
  );
}

/** The catalogue of faults. */
export function kindsReply(kinds: readonly FaultKind[]): z.output<typeof faultKindsSchema> {
  return {
    kinds: kinds.map((row) => ({
      protocol: row.protocol,
      kind: row.kind,
      layer: row.layer,
      description: row.summary,
      targets: Object.keys(targetMembersOf(row)),
      parameters: parametersOf(row),
    })),
    count: kinds.length,
  };
}
