import { expect } from 'chai';
import { announcing } from '../../src/client-commands/instance.ts';
import { failureOf } from '../support/client.ts';

describe('the simulator that a command changes', () => {
  it('gets no request where it does not say which instance it is, and another is not wanted', async () => {
    const methods: string[] = [];
    const fetch = (_address: string, { method }: { readonly method: string }) => {
      methods.push(method);
      return Promise.resolve({ status: 503, text: () => Promise.resolve('') });
    };
    const write = (expected: string | null) =>
      announcing(
        fetch as never,
        'http://127.0.0.1:1',
        expected,
        () => undefined,
      )('http://127.0.0.1:1/x', {
        method: 'POST',
        headers: {},
      });
    expect((await failureOf(write('one'))).message).to.contain('expected: one. Nothing was changed.');
    expect(methods).to.deep.equal(['GET']);
    await write(null);
    expect(methods).to.deep.equal(['GET', 'GET', 'POST']);
  });
});
