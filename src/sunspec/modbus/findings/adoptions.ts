/** Judges adoptions of stored curves: sets that contradict themselves, and results that nobody reads. */
import type { JudgedMap } from './map-bridge.ts';
import type { JudgeContext, JudgedRequest } from './request.ts';

export class AdoptionJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** Takes a write that adopts a stored set of a model, after it was carried out. */
  requested(request: JudgedRequest, map: JudgedMap, modelId: number): void {
    const { findings, rules } = this.#context;
    const { device, peer, deviceIndex } = request;
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
