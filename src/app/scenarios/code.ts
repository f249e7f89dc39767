/** The code of scenarios, loaded with the first scenario. */
import { lazily } from '../../core/lazy.ts';

export const loadedScenarioCode = lazily(() => import('../../scenario/assembly.ts'));
export type ScenarioCode = Awaited<ReturnType<typeof loadedScenarioCode>>;
