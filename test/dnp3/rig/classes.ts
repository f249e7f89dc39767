/** An outstation with points of each class, from its start to where unsolicited responses go out. */
import { expect } from 'chai';
import { Stack, spec } from './stack.ts';

const clearRestart = '02 50 01 00 07 07 00';
const writeTime = '02 32 01 07 01 00 68 e5 cf 8b 01';
/** Headers of all events of a class. */
export const [class1, class2, class3] = ['3c 02 06', '3c 03 06', '3c 04 06'];

/** An outstation with a binary input of each class, an output, and an analog input of which the latest event is kept. */
export function classes(more: Partial<ConstructorParameters<typeof Stack>[0]> = {}): Stack {
  const stack = new Stack({
    specs: [
      ...[1, 2, 3].map((of, index) => spec('binaryInput', index, { class: of as 1 | 2 | 3, eventVariation: 1 })),
      spec('analogInput', 0, { keeps: 'latest' }),
      spec('binaryOutput', 0, { class: 0 }),
    ],
    ...more,
  });
  for (const index of [0, 1, 2]) stack.set('binaryInput', index, 0);
  stack.set('analogInput', 0, 0);
  return stack;
}
/** `classes`, its restart cleared and its time written. */
export function settled(more: Parameters<typeof classes>[0] = {}): Stack {
  const stack = classes(more);
  stack.ask(`c0 ${clearRestart}`);
  stack.ask(`c1 ${writeTime}`);
  return stack;
}
/** `settled`, with the response without objects confirmed. */
export function unsolicited(): Stack {
  const stack = settled({ unsolicited: true });
  stack.clock.pass(0);
  expect(stack.sent()).to.deep.equal(['f0 82 00 00']);
  stack.ask('d0 00');
  stack.clock.pass(0);
  return stack;
}
export const association = (stack: Stack) => stack.outstation.association(4)!;
/** An event of a binary input in g2v1. */
export const event = (index: string, state = '81') => `02 01 28 01 00 ${index} 00 ${state}`;
