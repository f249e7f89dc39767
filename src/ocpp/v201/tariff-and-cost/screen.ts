/** Tariffs and costs on the display of an EVSE, as texts of the station (I01 to I06). */
import type { IdTokenInfo, MessageContent, Tariff } from '../messages.ts';
import type { Replies, StationParts } from '../parts.ts';

/** A text in one or more languages. */
type Text = readonly [MessageContent, ...MessageContent[]];

/** The cost of a transaction that has ended leaves the display after this time. */
const finalMs = 120_000;

interface ScreenContent {
  /** transaction that runs, or the last one; null: none since a token was presented */
  readonly transactionId: string | null;
  readonly personal: Text | null;
  readonly languages: readonly string[];
  /** sent by the central system; null: none */
  readonly totalCost: number | null;
  /** calculated by the station, at the end; null: none */
  readonly localCost: number | null;
  readonly ended: boolean;
}

interface ScreenDeps {
  /** The cost of the transaction at an EVSE by the calculation of the station; null: no tariff prices it. */
  readonly localCost: (evseId: number) => number | null;
  /** The tariff in force at an EVSE; null: none. */
  readonly tariffAt: (evseId: number) => Tariff | null;
  /** The transaction that runs at an EVSE; null: none. */
  readonly transactionAt: (evseId: number) => string | null;
}

export interface Screen {
  texts(evseId: number): readonly Text[];
  /** languages of the driver at an EVSE, preferred first */
  languages(evseId: number): readonly string[];
  /** Shows the answer of the central system about a token that was presented at an EVSE. */
  identified(evseId: number, info: IdTokenInfo): void;
  started(evseId: number, transactionId: string): void;
  answered(evseId: number, transactionId: string, reply: Replies['TransactionEvent']): void;
  /** @returns false: no display shows the transaction */
  cost(transactionId: string, totalCost: number): boolean;
  /** @param localCost calculated by the station; null: none */
  ended(evseId: number, transactionId: string, localCost: number | null): void;
  /** last total cost from the central system for a transaction; null: none */
  totalCost(transactionId: string): number | null;
  stop(): void;
}

const empty: ScreenContent = {
  transactionId: null,
  personal: null,
  languages: [],
  totalCost: null,
  localCost: null,
  ended: false,
};

const plain = (content: string): Text => [{ format: 'UTF8', content }];

function withInfo(content: ScreenContent, { personalMessage, language1, language2 }: IdTokenInfo): ScreenContent {
  const languages = [language1, language2].filter((tag) => tag !== undefined);
  return {
    ...content,
    personal: personalMessage === undefined ? content.personal : [personalMessage],
    languages: languages.length > 0 ? languages : content.languages,
  };
}

type Variables = StationParts['variables'];

/** The fallback message of I04; null: none is configured. */
function fallback({ variables, registration }: StationParts): Text | null {
  const offlineText = 'OfflineTariffFallbackMessage';
  const offline = registration.offlineSinceMs !== null && variables.has('TariffCostCtrlr', offlineText);
  const texts = [
    offline ? variables.text('TariffCostCtrlr', offlineText) : '',
    variables.text('TariffCostCtrlr', 'TariffFallbackMessage'),
  ];
  const text = texts.find((each) => each !== '');
  return text === undefined ? null : plain(text);
}

function tariffText(
  parts: StationParts,
  { personal, transactionId, ended }: ScreenContent,
  tariff: Tariff | null,
): Text | null {
  if (!parts.variables.boolean('TariffCostCtrlr', 'Enabled[Tariff]')) return null;
  if (personal !== null) return personal;
  const [first, ...more] = tariff?.description ?? [];
  if (first !== undefined) return [first, ...more];
  return transactionId === null || ended ? null : fallback(parts);
}

/** @param localCost by the calculation of the station; null: none */
function costText(
  variables: Variables,
  content: ScreenContent,
  localCost: number | null,
  tariff: Tariff | null,
): Text | null {
  if (content.transactionId === null || !variables.boolean('TariffCostCtrlr', 'Enabled[Cost]')) return null;
  const amount = content.totalCost ?? localCost;
  const currency = tariff?.currency ?? variables.text('TariffCostCtrlr', 'Currency');
  if (amount !== null) return plain(`${content.ended ? 'Total cost' : 'Cost'}: ${amount.toFixed(2)} ${currency}`);
  const text = variables.text('TariffCostCtrlr', 'TotalCostFallbackMessage');
  return content.ended && text !== '' ? plain(text) : null;
}

function textsOf(parts: StationParts, deps: ScreenDeps, evseId: number, content: ScreenContent): readonly Text[] {
  const tariff = deps.tariffAt(evseId);
  const localCost = content.ended ? content.localCost : deps.localCost(evseId);
  const texts = [tariffText(parts, content, tariff), costText(parts.variables, content, localCost, tariff)];
  return texts.filter((text) => text !== null);
}

export function createScreen(parts: StationParts, deps: ScreenDeps): Screen {
  const contents = new Map<number, ScreenContent>();
  const leaving = new Map<number, () => void>();
  // after a restart a transaction may run that has no content yet
  const content = (evseId: number) => contents.get(evseId) ?? { ...empty, transactionId: deps.transactionAt(evseId) };
  const change = (evseId: number, patch: Partial<ScreenContent>) =>
    contents.set(evseId, { ...content(evseId), ...patch });
  function clear(evseId: number): void {
    leaving.get(evseId)?.();
    leaving.delete(evseId);
    contents.delete(evseId);
  }

  return {
    texts: (evseId) => textsOf(parts, deps, evseId, content(evseId)),
    languages: (evseId) => content(evseId).languages,
    identified(evseId, info) {
      if (content(evseId).ended) clear(evseId);
      contents.set(evseId, withInfo(content(evseId), info));
    },
    started(evseId, transactionId) {
      if (content(evseId).ended) clear(evseId);
      change(evseId, { transactionId });
    },
    answered(
      evseId,
      transactionId,
      { idTokenInfo, updatedPersonalMessage, updatedPersonalMessageExtra = [], totalCost },
    ) {
      if (content(evseId).transactionId !== transactionId) return;
      if (idTokenInfo !== undefined) contents.set(evseId, withInfo(content(evseId), idTokenInfo));
      if (updatedPersonalMessage !== undefined)
        change(evseId, { personal: [updatedPersonalMessage, ...updatedPersonalMessageExtra] });
      if (totalCost !== undefined) change(evseId, { totalCost });
    },
    cost(transactionId, totalCost) {
      const place = parts.device.connectorIds.find((evseId) => content(evseId).transactionId === transactionId);
      if (place !== undefined) change(place, { totalCost });
      return place !== undefined;
    },
    ended(evseId, transactionId, localCost) {
      if (content(evseId).transactionId !== transactionId) return;
      // a running cost of the central system is not the final one
      change(evseId, { ended: true, localCost, totalCost: null, personal: null });
      leaving.set(
        evseId,
        parts.later(finalMs, () => {
          clear(evseId);
        }),
      );
    },
    totalCost: (transactionId) =>
      [...contents.values()].find((each) => each.transactionId === transactionId)?.totalCost ?? null,
    stop() {
      for (const cancel of leaving.values()) cancel();
      leaving.clear();
    },
  };
}
