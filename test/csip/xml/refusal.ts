import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';

/** The message with which something is refused. @throws Error if it is not, or with another code */
export function refusal(act: () => unknown, code: string): string {
  try {
    act();
  } catch (error) {
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).code).to.equal(code);
    return (error as SimError).message;
  }
  throw new Error('nothing was refused');
}
