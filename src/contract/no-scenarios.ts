/** The scenarios of an interface that was made without them. */
import { SimError } from '../core/errors.ts';
import type { ScenarioBook } from './scenarios.ts';

function none(): never {
  throw new SimError('UNKNOWN_RESOURCE', 'this interface keeps no scenarios');
}

export const noScenarios: ScenarioBook = {
  maxScenarios: 0,
  list: () => [],
  bundled: () => [],
  get: none,
  add: none,
  start: none,
  stop: none,
  remove: none,
  report: none,
};
