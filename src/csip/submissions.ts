/** Submissions of one EndDevice to its server, and the addresses of the server for them. */
import { nowhere } from './report/reporter.ts';
import type { DerHrefs, ReportHrefs, Reporter } from './report/reporter.ts';
import type { ResponseSender } from './events/responses.ts';
import type { DER } from './xml/documents.ts';
import type { EndDeviceFacts, Located, ServerFacts } from './walk/model.ts';
import { resolved } from './walk/reader.ts';

type LinkName = keyof { [Name in keyof DER as Name extends `DER${string}Link` ? Name : never]: true };

const derLinks = {
  capability: 'DERCapabilityLink',
  settings: 'DERSettingsLink',
  status: 'DERStatusLink',
  availability: 'DERAvailabilityLink',
} as const satisfies Readonly<Record<keyof DerHrefs, LinkName>>;

function linked(link: { readonly href?: string | undefined } | undefined, base: string): string | null {
  return link?.href === undefined ? null : resolved(link.href, base);
}

function derHrefs({ document, base }: Located<DER>): DerHrefs {
  const hrefOf = (name: keyof DerHrefs) => linked(document[derLinks[name]], base);
  return {
    capability: hrefOf('capability'),
    settings: hrefOf('settings'),
    status: hrefOf('status'),
    availability: hrefOf('availability'),
  };
}

/**
 * The addresses for reports of an EndDevice. If the DERList lacks the DER of any device, the first DER stands for all
 * devices together.
 * @param places for each device the index of its DER in the list
 */
export function reportHrefs(
  { document, base, ders }: EndDeviceFacts,
  server: ServerFacts | null,
  places: readonly number[],
): ReportHrefs {
  const [first] = ders;
  const hasAll = places.every((place) => place < ders.length);
  return {
    ders: places.map((place) => {
      const der = hasAll ? ders[place] : undefined;
      return der ? derHrefs(der) : null;
    }),
    together: hasAll || first === undefined ? null : derHrefs(first),
    logEventList: linked(document.LogEventListLink, base),
    mirrorUsagePointList: server === null ? null : linked(server.document.MirrorUsagePointListLink, server.base),
    deviceInformation: linked(document.DeviceInformationLink, base),
    deviceStatus: linked(document.DeviceStatusLink, base),
    powerStatus: linked(document.PowerStatusLink, base),
    connectionPoint: linked(document.ConnectionPointLink, base),
    postRateS: document.postRate ?? null,
  };
}

export interface SubmissionsOptions {
  readonly responses: ResponseSender;
  /** called when the EndDevice is first read: before, there is no address to report to */
  readonly makeReporter: () => Reporter;
  /** for each device the present index of its DER in the DERList */
  readonly places: () => readonly number[];
}

/** Everything sent to the server for an EndDevice: reports, readings, log events, responses. */
export class Submissions {
  readonly responses: ResponseSender;
  readonly #options: SubmissionsOptions;
  #reporter: Reporter | null = null;
  /** the arguments of the last `follow` */
  #followed: readonly [EndDeviceFacts, ServerFacts | null] | null = null;
  #closed = false;

  constructor(options: SubmissionsOptions) {
    this.#options = options;
    this.responses = options.responses;
  }

  /** null: the EndDevice has not been read yet */
  get reporter(): Reporter | null {
    return this.#reporter;
  }

  /** Reports to the addresses of a new or changed EndDevice. @param facts null: the server has no such EndDevice */
  follow(facts: EndDeviceFacts | null, server: ServerFacts | null): void {
    if (this.#closed) return;
    this.#followed = facts && [facts, server];
    if (facts === null) {
      this.#reporter?.follow(nowhere);
      return;
    }
    const { makeReporter, places } = this.#options;
    this.#reporter ??= makeReporter();
    this.#reporter.follow(reportHrefs(facts, server, places()));
  }

  /** Replaces the reporter with one for the present devices. */
  regroup(): void {
    if (this.#reporter === null) return;
    this.#reporter.stop();
    this.#reporter = null;
    if (this.#followed !== null) this.follow(...this.#followed);
  }

  /** Responses wait while the server cannot be reached; the reporter retries documents and readings. */
  reachable(isReachable: boolean): void {
    this.responses.reachable(isReachable);
  }

  /** Stops all submissions for good. */
  close(): Promise<void> {
    this.#closed = true;
    this.responses.close();
    this.#reporter?.stop();
    return Promise.resolve();
  }
}
