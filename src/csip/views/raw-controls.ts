/** The latest XML texts of DERControls. */
import type { CsipChannel } from '../transport/messages.ts';
import { resolved } from '../walk/reader.ts';

export interface RawControls {
  /**
   * The text at `href`, otherwise that of another EndDevice with the same mRID.
   * @returns null if no recorded message contains it
   */
  of(mrid: string, href: string | null): string | null;
}

/** One element; a DERControl has no descendant of the same name. */
const controlElement = /<((?:[\w.-]+:)?DERControl)(?:\s[^>]*)?>[\s\S]*?<\/\1\s*>/g;
const hrefAttribute = /^<[^>]*?\shref\s*=\s*["']([^"']*)["']/;
const mridElement = /<(?:[\w.-]+:)?mRID\b[^>]*>\s*([0-9A-Fa-f]+)\s*</;

/** Searches the recorded messages; nothing else is stored. */
export function rawControls(channel: CsipChannel): RawControls {
  return {
    of(mrid, href) {
      let another: string | null = null;
      for (const entry of [...channel.list({})].reverse()) {
        const { responseBody = null } = channel.decode(entry) ?? {};
        if (responseBody?.includes('DERControl') !== true) continue;
        for (const [text] of responseBody.matchAll(controlElement)) {
          if (mridElement.exec(text)?.[1]?.toUpperCase() !== mrid) continue;
          if (resolved(hrefAttribute.exec(text)?.[1] ?? '', entry.facts.url) === href) return text;
          another ??= text;
        }
      }
      return another;
    },
  };
}
