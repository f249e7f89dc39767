import { expect } from 'chai';
import type { Msg } from '@nats-io/transport-node';
import { FleetError } from '../../../src/fleet/link.ts';
import type { FleetMessage } from '../../../src/fleet/link.ts';
import {
  entriesOf,
  failureIn,
  headersOf,
  isNoResponder,
  isSignOfLife,
  PartsReader,
  sendAnswer,
  sendFailure,
  sendSignOfLife,
  wholeAnswer,
} from '../../../src/fleet/nats/parts.ts';
import { message } from '../support/nats.ts';

const half = 512 * 1024;

/** The messages in which an answer is sent. */
function sent(body: Uint8Array, headers: Readonly<Record<string, string>> = {}): readonly Msg[] {
  const { msg, responses } = message();
  sendAnswer(msg, { headers, body });
  return responses;
}

/** A body whose bytes differ by their place. */
function bodyOf(length: number): Buffer {
  const body = Buffer.alloc(length);
  for (let at = 0; at < length; at += 509) body[at] = at % 251;
  return body;
}

/** The answer of some messages, and how many of them it took. */
function read(messages: readonly Msg[]): { readonly answer: FleetMessage | undefined; readonly taken: number } {
  const reader = new PartsReader();
  for (const [at, each] of messages.entries()) {
    const answer = reader.add(each);
    if (answer !== undefined) return { answer, taken: at + 1 };
  }
  return { answer: undefined, taken: messages.length };
}

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof FleetError) return error.code;
    throw error;
  }
  return 'none';
};

describe('fleet/nats: answers in parts', () => {
  it('are one message up to 512 KiB, and one more byte makes two and an empty one', () => {
    expect([0, 1, half, half + 1, 2 * half, 2 * half + 1].map((length) => sent(bodyOf(length)).length)).to.deep.equal([
      1, 1, 1, 3, 3, 4,
    ]);
    for (const part of sent(bodyOf(2 * half + 1))) expect(part.data.length).to.be.at.most(half);
  });

  it('are put together byte for byte, with the headers of the answer alone, when the last one has come', () => {
    for (const length of [0, 1, half, half + 1, 3 * half]) {
      const body = bodyOf(length);
      const messages = sent(body, { 'Derbench-Status': '200', 'Content-Type': 'text/csv' });
      const { answer, taken } = read(messages);
      expect(taken, 'not before the last one').to.equal(messages.length);
      expect(answer?.headers).to.deep.equal({ 'Derbench-Status': '200', 'Content-Type': 'text/csv' });
      expect(Buffer.compare(Buffer.from(answer?.body ?? []), body)).to.equal(0);
    }
  });

  it('are at most 64: a longer answer is a failure that says what to do', () => {
    const longest = Buffer.alloc(64 * half, 1);
    expect(sent(longest)).to.have.length(65);
    expect(read(sent(longest)).answer?.body.length).to.equal(64 * half);
    const [only, ...others] = sent(Buffer.alloc(64 * half + 1));
    expect([only?.data.length, others.length]).to.deep.equal([0, 0]);
    const failure = failureIn(only!);
    expect(failure?.code).to.equal('too-large');
    expect(failure?.message).to.equal('the answer is larger than 32 MiB: ask for a page of it');
    expect(codeOf(() => read([only!]))).to.equal('too-large');
  });

  it('end with an error where more parts come than an answer has', () => {
    const part = message(Buffer.alloc(8, 1), { 'Derbench-First': '1' }).msg;
    expect(codeOf(() => read(Array.from({ length: 64 }, () => part)))).to.equal('none');
    expect(codeOf(() => read(Array.from({ length: 65 }, () => part)))).to.equal('too-large');
  });
});

describe('fleet/nats: other messages of an answer', () => {
  it('say that it failed, in one line', () => {
    const { msg, responses } = message();
    sendFailure(msg, new FleetError('refused', 'first\r\nsecond\nthird'));
    sendFailure(msg, 'no error');
    const [first, second] = responses.map((each) => failureIn(each));
    expect([first?.code, first?.message]).to.deep.equal(['refused', 'first second third']);
    expect([second?.code, second?.message]).to.deep.equal(['refused', 'no error']);
    expect(failureIn(sent(bodyOf(1))[0]!)).to.equal(null);
    expect(failureIn(message().msg), 'no headers').to.equal(null);
  });

  it('say that it is still being made, which is neither an answer nor a part', () => {
    const { msg, responses } = message();
    sendSignOfLife(msg);
    expect(responses.map(isSignOfLife)).to.deep.equal([true]);
    expect(sent(bodyOf(half + 1)).map(isSignOfLife)).to.deep.equal([false, false, false]);
    expect(isSignOfLife(message().msg)).to.equal(false);
  });

  it('say that nobody serves the subject, by the status of the server alone', () => {
    const of503 = (data: string) => ({ data: Buffer.from(data), headers: { code: 503 } }) as unknown as Msg;
    expect([of503(''), of503('x'), message().msg, sent(bodyOf(0))[0]!].map(isNoResponder)).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
  });

  it('are whole or refused where a request goes to all', () => {
    const [one] = sent(bodyOf(3), { a: 'b' });
    expect(wholeAnswer(one!)).to.deep.equal({ headers: { a: 'b' }, body: bodyOf(3) });
    const [first, further] = sent(bodyOf(half + 1));
    expect(wholeAnswer(first!)).to.be.instanceOf(FleetError).with.property('code', 'too-large');
    expect(wholeAnswer(further!), 'told once').to.equal(undefined);
    const { msg, responses } = message();
    sendFailure(msg, new Error('no'));
    expect(wholeAnswer(responses[0]!)).to.be.instanceOf(FleetError).with.property('message', 'no');
  });

  it('have headers that NATS can send', () => {
    expect(codeOf(() => headersOf({ 'Derbench-Path': '/a\r\nb: c' }))).to.equal('refused');
    expect(entriesOf({ headers: headersOf({ 'Derbench-Path': '/ä', b: '' }) } as Msg)).to.deep.equal({
      'Derbench-Path': '/ä',
      b: '',
    });
    expect(entriesOf(message('x').msg)).to.deep.equal({});
  });
});
