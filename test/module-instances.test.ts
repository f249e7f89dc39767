import { expect } from 'chai';
import * as description from '../src/api/description/openapi.ts';
import * as errors from '../src/core/errors.ts';
import * as csip from '../src/csip/adapter.ts';
import * as scenarios from '../src/scenario/assembly.ts';

/** Two instances of a module have two classes of one name, and `instanceof` fails between them. */
describe('a module that is imported twice', () => {
  const both: Readonly<Record<string, readonly [statically: object, lazily: () => Promise<object>]>> = {
    'src/core/errors.ts': [errors, () => import('../src/core/errors.ts')],
    'src/api/description/openapi.ts': [description, () => import('../src/api/description/openapi.ts')],
    'src/csip/adapter.ts': [csip, () => import('../src/csip/adapter.ts')],
    'src/scenario/assembly.ts': [scenarios, () => import('../src/scenario/assembly.ts')],
  };
  for (const [file, [statically, lazily]] of Object.entries(both)) {
    it(`is one object: ${file}, at the start and in the course of a run`, async () => {
      expect(await lazily()).to.equal(statically);
    });
  }
});
