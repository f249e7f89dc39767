import { expect } from 'chai';
import fc from 'fast-check';
import { answerToInvalid, frameText, parseFrame } from '../../../src/ocpp/rpc/frames.ts';
import type { Frame, OutFrame } from '../../../src/ocpp/rpc/frames.ts';
import { holds } from '../../support/property.ts';

const versions = ['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'] as const;
const kindOf: Readonly<Record<number, Frame['kind']>> = {
  2: 'call',
  3: 'result',
  4: 'error',
  5: 'result_error',
  6: 'send',
};

const text = fc.string({ maxLength: 300 });
/** Lists that are frames, or nearly. */
const nearFrame = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 8 }), fc.jsonValue()),
    fc.oneof(text, fc.jsonValue()),
    fc.array(fc.jsonValue(), { maxLength: 4 }),
  )
  .map(([number, id, rest]) => JSON.stringify([number, id, ...rest]));
/** The text of a frame, a part of which is cut off or replaced. */
const brokenText = fc
  .tuple(nearFrame, fc.nat(), fc.nat(20), fc.string({ maxLength: 5 }))
  .map(([json, at, count, other]) => {
    const start = at % (json.length + 1);
    return json.slice(0, start) + other + json.slice(start + count);
  });

const outFrame: fc.Arbitrary<OutFrame> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('call' as const, 'send' as const),
    id: fc.string({ maxLength: 36 }),
    action: text,
    payload: fc.dictionary(text, fc.jsonValue(), { maxKeys: 4 }),
  }),
  fc.record({
    kind: fc.constant('result' as const),
    id: fc.string({ maxLength: 36 }),
    payload: fc.dictionary(text, fc.jsonValue(), { maxKeys: 4 }),
  }),
  fc.record({
    kind: fc.constantFrom('error' as const, 'result_error' as const),
    id: fc.string({ maxLength: 36 }),
    code: text,
    description: text,
    details: fc.dictionary(text, fc.jsonValue(), { maxKeys: 4 }),
  }),
);

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

describe('OCPP-J frames of any text (4.2)', () => {
  it('are read as the type that they name, or as invalid with a reason; answers are never answered', () => {
    holds(
      'any text is read',
      fc.oneof(text, nearFrame, brokenText),
      (json) => {
        const frame = parseFrame(json, 'ocpp2.1');
        const value = parsed(json);
        const number: unknown = Array.isArray(value) ? value[0] : undefined;
        if (frame.kind !== 'invalid') {
          expect(frame.kind).to.equal(kindOf[number as number]);
          expect(frame.id).to.equal((value as unknown[])[1]);
          return;
        }
        for (const version of versions) {
          const answer = answerToInvalid(version, frame);
          if (answer === null) continue;
          expect(parseFrame(frameText(answer), version).kind).to.equal('error');
          expect(number, 'answers have no answer').not.to.be.oneOf([3, 4, 5, 6]);
        }
      },
      { runs: 1000 },
    );
  });

  it('come back as they were sent, with a description of at most 255 characters', () => {
    holds('frames come back', outFrame, (frame) => {
      const back = parseFrame(frameText(frame), 'ocpp2.1');
      const sent = 'description' in frame ? { ...frame, description: frame.description.slice(0, 255) } : frame;
      expect(back).to.deep.equal(JSON.parse(JSON.stringify(sent)));
    });
  });
});
