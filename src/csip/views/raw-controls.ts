/** The texts of DERControls as they came last. */
import type { CsipChannel } from '../transport/messages.ts';

export interface RawControls {
  /** null: its text is not kept */
  of(mrid: string): string | null;
}

/** One element; a DERControl has no element of its own name inside. */
const controlElement = /<((?:[\w.-]+:)?DERControl)(?:\s[^>]*)?>[\s\S]*?<\/\1\s*>/g;
const mridElement = /<(?:[\w.-]+:)?mRID\b[^>]*>\s*([0-9A-Fa-f]+)\s*</;

/** Looks for them in the recorded messages: nothing is kept beside. */
export function rawControls(channel: CsipChannel): RawControls {
  return {
    of(mrid) {
      for (const entry of [...channel.list({})].reverse()) {
        const { responseBody = null } = channel.decode(entry) ?? {};
        if (responseBody?.includes('DERControl') !== true) continue;
        for (const [text] of responseBody.matchAll(controlElement))
          if (mridElement.exec(text)?.[1]?.toUpperCase() === mrid) return text;
      }
      return null;
    },
  };
}
