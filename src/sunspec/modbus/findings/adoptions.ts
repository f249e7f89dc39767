/** Judges adoptions of stored curves: sets that contradict themselves, and results that nobody reads. */
import { setKey } from './map-bridge.ts';
import type { JudgedMap, StoredSet } from './map-bridge.ts';
import type { JudgeContext, ServedRequest } from './request.ts';

export class AdoptionJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** Takes a write that adopts a stored set of a model, after it was carried out. */
  requested(request: ServedRequest, map: JudgedMap, modelId: number): void {
    const { findings, rules } = this.#context;
    const { device, peer, deviceIndex } = request;
    device.staged.get(setKey({ modelId, number: map.adoptedSet(modelId) ?? 0 }))?.met();
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
    if (resultAt === null) return;
    const rule = rules.adoption_result_unread;
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
  staged(request: ServedRequest, map: JudgedMap, set: StoredSet): void {
    const { findings, rules } = this.#context;
    const { device, peer, deviceIndex } = request;
    const { modelId, number } = set;
    const key = setKey(set);
    if (!map.isEnabled(modelId) || device.staged.get(key)?.isPending === true) return;
    const rule = rules.adoption_forgotten;
    const evidence = request.evidence();
    const deadline = findings.waitFor({
      rule,
      peer,
      deviceIndex,
      waitMs: rule.param('wait_min') * 60_000,
      presence: 'active',
      key,
      isDue: () => map.isEnabled(modelId) && map.adoptedSet(modelId) !== number,
      expired: () => ({
        text: `wrote set ${number} of model ${modelId} and did not adopt it`,
        facts: { model: modelId, set: number },
        ...evidence,
      }),
    });
    device.staged.set(key, deadline);
  }

  /** Takes an adoption that was refused: the master has tried. */
  refused({ device }: ServedRequest): void {
    for (const deadline of device.staged.values()) deadline.drop();
  }

  /** Takes a read that was answered. */
  read({ device, address, end }: ServedRequest): void {
    for (const { resultAt, deadline } of device.adoptions.values())
      if (resultAt >= address && resultAt < end) deadline.met();
  }
}
