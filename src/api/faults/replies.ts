import type { z } from 'zod';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { EndedFault, FaultRegistry } from '../../core/faults/registry.ts';
import { maxActiveFaults } from '../../core/faults/registry.ts';
import { meterIndex } from '../../core/faults/kinds.ts';
import type { FaultKind } from '../../core/faults/kinds.ts';
import { kindSchemas } from '../../fault-kinds/json-schema.ts';
import { targetMembersOf } from '../../fault-kinds/request.ts';
import { shownTarget } from '../../fault-kinds/targets.ts';
import { eachLater } from '../http/pieces.ts';
import type { InPieces, LaterItems } from '../http/pieces.ts';
import type { EndedFaultReply, faultKindsSchema, FaultParameterReply, FaultReply, FaultsReply } from './schemas.ts';

/** A fault as the interface shows it. */
function faultReply(fault: ActiveFault, remainingS: number | null): FaultReply {
  const { facts } = fault;
  return {
    id: facts.id,
    protocol: fault.protocol,
    kind: facts.kind.kind,
    layer: fault.layer,
    device_index: facts.deviceIndex === meterIndex ? null : facts.deviceIndex,
    ...(facts.deviceIndex === meterIndex && { meter: true }),
    target: shownTarget(fault.protocol, facts.target),
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
    device_profile: facts.deviceProfile,
    occasions: fault.occasions,
    strikes: fault.strikeCount,
    began_at: new Date(facts.beganAtMs).toISOString(),
    source: facts.by.source,
    source_detail: facts.by.peer ?? null,
  };
}

function endedReply({ fault, end, endedAtMs }: EndedFault): EndedFaultReply {
  const left = fault.facts.durationS === null ? null : 0;
  return { ...faultReply(fault, left), end, ended_at: new Date(endedAtMs).toISOString() };
}

/** A part of the faults in force; both members may be absent. */
export interface FaultsPage {
  readonly limit?: number | undefined;
  /** only faults with a higher id */
  readonly after_id?: number | undefined;
}

/** The faults in force that `concerns` selects; expires faults first. */
export function activeFaults(
  registry: FaultRegistry,
  concerns: (fault: ActiveFault) => boolean,
): {
  readonly found: readonly ActiveFault[];
  readonly shown: (faults: Iterable<ActiveFault>) => LaterItems<FaultReply>;
} {
  registry.expire();
  return {
    found: registry.active.filter(concerns),
    shown: (faults) => eachLater(faults, (fault) => faultReply(fault, registry.remainingS(fault))),
  };
}

/**
 * Faults in force and ended faults.
 * @param concerns selects the faults
 */
export function faultsReply(
  registry: FaultRegistry,
  concerns: (fault: ActiveFault) => boolean,
  { limit = maxActiveFaults, after_id: afterId = 0 }: FaultsPage = {},
): InPieces<FaultsReply> {
  const { found, shown } = activeFaults(registry, concerns);
  const page = found.filter(({ facts }) => facts.id > afterId).slice(0, limit);
  return {
    faults: shown(page),
    count: page.length,
    total: found.length,
    ended: eachLater(
      registry.ended.filter(({ fault }) => concerns(fault)),
      endedReply,
    ),
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

type Kinds = z.output<ReturnType<typeof faultKindsSchema>>;
type KindReply = Kinds['kinds'][number];

/** Rows never change: each is described once, at the first request for it. */
const replies = new WeakMap<FaultKind, KindReply>();

function kindReply(row: FaultKind): KindReply {
  const known = replies.get(row);
  if (known !== undefined) return known;
  const schemas = kindSchemas(row);
  const { properties = {}, required = [] } = schemas.parameters as {
    readonly properties?: Readonly<Record<string, ParameterNode>>;
    readonly required?: readonly string[];
  };
  const reply: KindReply = {
    protocol: row.protocol,
    kind: row.kind,
    layer: row.layer,
    description: row.summary,
    targets: Object.keys(targetMembersOf(row)),
    parameters: Object.entries(properties).map(([name, node]) => parameterReply(name, node, required.includes(name))),
    parameters_schema: schemas.parameters,
    target_schema: schemas.target,
  };
  replies.set(row, reply);
  return reply;
}

/** The catalogue of faults. */
export function kindsReply(kinds: readonly FaultKind[]): Kinds {
  return { kinds: kinds.map(kindReply), count: kinds.length };
}
