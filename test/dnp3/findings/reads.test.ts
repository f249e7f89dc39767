import { expect } from 'chai';
import { classesNamed, eventClassesRead, readsClass0, readsStatic } from '../../../src/dnp3/findings/reads.ts';
import { parseRequest } from '../../../src/dnp3/stack/application/parse.ts';
import type { Request } from '../../../src/dnp3/stack/application/types.ts';
import { hex } from '../rig/frames.ts';

/** @throws Error if the octets are no request */
function requestOf(octets: string): Request {
  const request = parseRequest(hex(`c0 ${octets}`));
  if (request === null) throw new Error(`${octets} is no request`);
  return request;
}

describe('data that a READ of DNP3 asks for', () => {
  for (const [name, octets, class0, statics, classes] of [
    ['class 0', '01 3c 01 06', true, true, 0],
    ['class 1', '01 3c 02 06', false, false, 0b001],
    ['classes 2 and 3', '01 3c 03 06 3c 04 06', false, false, 0b110],
    ['all classes', '01 3c 02 06 3c 03 06 3c 04 06 3c 01 06', true, true, 0b111],
    ['class 5, which there is not', '01 3c 05 06', false, false, 0],
    ['variation 1 of another group', '01 01 01 06', false, true, 0],
    ['variation 2 of another group', '01 50 02 06', false, false, 0],
    ['events by type', '01 02 00 06', false, false, 0b111],
    ['events by type beside a static group', '01 01 00 06 02 00 06', false, true, 0b111],
    ['a static group beside another one', '01 50 01 00 07 07 01 00 06', false, true, 0],
    ['no READ of class 0', '14 3c 01 06', false, false, 0],
    ['no READ of a type', '07 14 00 06', false, false, 0],
    ['no READ of classes', '14 3c 02 06', false, false, 0],
    ['no READ of events', '02 02 00 06', false, false, 0],
  ] as const)
    it(`is told for ${name}`, () => {
      const request = requestOf(octets);
      expect([readsClass0(request), readsStatic(request), eventClassesRead(request)]).to.deep.equal([
        class0,
        statics,
        classes,
      ]);
    });

  it('has the classes that any function names', () => {
    expect(classesNamed(requestOf('14 3c 02 06 3c 04 06 3c 05 06 3c 01 06'))).to.equal(0b101);
  });
});
