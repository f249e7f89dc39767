/** Judges adoptions of stored curves: sets that contradict themselves, and results that nobody reads. */
import type { Deadline } from '../../../core/findings/rule.ts';
import { setKey } from './map-bridge.ts';
import type { JudgedMap, StoredSet } from './map-bridge.ts';
import type { JudgeContext, JudgedRequest, MasterAtDevice } from './request.ts';

/** Stored sets of one device that a master may adopt later. */
const maxStaged = 16;

export class AdoptionJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** Takes a write that adopts a stored set of a model, after it was carried out. */
  requested(request: JudgedRequest, map: JudgedMap, modelId: number): void {
    const { findings, rules } = this.#context;
    const { device, peer, deviceIndex } = request;
    if (device !== null) this.#adopted(device, { modelId, number: map.adoptedSet(modelId) ?? 0 });
    const contradiction = map.adoptionContradiction(modelId);
    if (contradiction === null) rules.curve_unordered.exercised(peer);
    else
      rules.curve_unordered.broken(
        peer,
        deviceIndex,
        () => ({
          text: `adopted a curve of model ${modelId} that contradicts itself: ${contradiction.path}: ${contradiction.detail}`,
          facts: { model: modelId, point: `${modelId}.${contradiction.path}` },
          ...request.evidence(),
        }),
        String(modelId),
      );
    const resultAt = map.adoptionResultAt(modelId);
    if (device === null || resultAt === null) return;
    const rule = rules.adoption_result_unread;
    device.adoptions ??= new Map();
    device.adoptions.get(modelId)?.deadline.drop();
    const evidence = request.evidence();
    const deadline = findings.waitFor({
      rule,
      peer,
      deviceIndex,
      waitMs: rule.param('wait_s') * 1000,
      presence: 'active',
      key: String(modelId),
      expired: () => ({
        text: `adopted a curve of model ${modelId} and did not read the result (register ${resultAt})`,
        facts: { model: modelId, result: resultAt },
        ...evidence,
      }),
    });
    device.adoptions.set(modelId, { resultAt, deadline });
  }

  /** Takes a write of settings of a stored set, after it was carried out. */
  staged(request: JudgedRequest, map: JudgedMap, set: StoredSet): void {
    const { findings, rules } = this.#context;
    const { device, peer, deviceIndex } = request;
    const { modelId, number } = set;
    if (device === null || !map.isEnabled(modelId)) return;
    const staged = (device.staged ??= new Map<number, Deadline>());
    const key = setKey(set);
    if (staged.get(key)?.isPending === true) return;
    for (const [other, deadline] of staged) if (!deadline.isPending) staged.delete(other);
    if (staged.size >= maxStaged) return;
    const rule = rules.adoption_forgotten;
    const evidence = request.evidence();
    const deadline = findings.waitFor({
      rule,
      peer,
      deviceIndex,
      waitMs: rule.param('wait_min') * 60_000,
      presence: 'active',
      key: String(key),
      isDue: () => map.isEnabled(modelId) && map.adoptedSet(modelId) !== number,
      expired: () => ({
        text: `wrote set ${number} of model ${modelId} and did not adopt it`,
        facts: { model: modelId, set: number },
        ...evidence,
      }),
    });
    staged.set(key, deadline);
  }

  /** Takes an adoption that was refused: the master has tried. */
  refused({ device }: JudgedRequest): void {
    for (const deadline of device?.staged?.values() ?? []) deadline.drop();
  }

  #adopted({ staged }: MasterAtDevice, set: StoredSet): void {
    const key = setKey(set);
    staged?.get(key)?.met();
    staged?.delete(key);
  }

  /** Takes a read that was answered. */
  read({ device, address, end }: JudgedRequest): void {
    const adoptions = device?.adoptions ?? null;
    if (device === null || adoptions === null) return;
    for (const [modelId, { resultAt, deadline }] of adoptions)
      if (resultAt >= address && resultAt < end) {
        deadline.met();
        adoptions.delete(modelId);
      }
    if (adoptions.size === 0) device.adoptions = null;
  }
}
