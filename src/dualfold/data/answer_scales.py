"""Answers in words whose order is known: agreement, frequency, quality, size and their like.

English, German, French, Spanish and Portuguese; case, accents, and a number before the words
("1 - never") do not matter. A scale goes from low to high; "|" stands between words for the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from dualfold.weights.encoding import plain_words

# Two answers have no order that matters: 0 and 1 either way.
MIN_ANSWERS = 3

ANSWER_SCALES: dict[str, tuple[str, ...]] = {
    "agreement": (
        "strongly disagree|disagree strongly|totally disagree|completely disagree|fully disagree|"
        "stimme überhaupt nicht zu|stimme gar nicht zu|trifft überhaupt nicht zu|"
        "trifft gar nicht zu|pas du tout d'accord|tout à fait en désaccord|"
        "fortement en désaccord|totalmente en desacuerdo|muy en desacuerdo|discordo totalmente|"
        "discordo fortemente",
        "disagree|tend to disagree|stimme nicht zu|trifft nicht zu|pas d'accord|en désaccord|"
        "en desacuerdo|discordo",
        "somewhat disagree|slightly disagree|rather disagree|stimme eher nicht zu|"
        "trifft eher nicht zu|plutôt pas d'accord|plutôt en désaccord|algo en desacuerdo|"
        "discordo parcialmente",
        "neither agree nor disagree|neither agree or disagree|neither|neutral|undecided|unsure|"
        "weder noch|teils teils|teils/teils|unentschieden|ni d'accord ni pas d'accord|"
        "ni en accord ni en désaccord|neutre|ni de acuerdo ni en desacuerdo|neutro|indiferente|"
        "nem concordo nem discordo|não concordo nem discordo",
        "somewhat agree|slightly agree|rather agree|stimme eher zu|trifft eher zu|"
        "plutôt d'accord|algo de acuerdo|concordo parcialmente",
        "agree|tend to agree|stimme zu|trifft zu|d'accord|en accord|de acuerdo|concordo",
        "strongly agree|agree strongly|totally agree|completely agree|fully agree|"
        "stimme voll und ganz zu|stimme völlig zu|stimme voll zu|stimme vollkommen zu|"
        "trifft voll und ganz zu|trifft völlig zu|trifft voll zu|tout à fait d'accord|"
        "fortement d'accord|totalmente de acuerdo|muy de acuerdo|concordo totalmente|"
        "concordo fortemente",
    ),
    "frequency": (
        "never|not at all|nie|niemals|jamais|nunca|jamás",
        "almost never|hardly ever|very rarely|fast nie|sehr selten|presque jamais|très rarement|"
        "casi nunca|muy raramente|quase nunca|muito raramente",
        "rarely|seldom|selten|rarement|raramente|rara vez|pocas veces|poucas vezes",
        "occasionally|once in a while|gelegentlich|hin und wieder|occasionnellement|"
        "de temps en temps|ocasionalmente|de vez en cuando|de vez em quando",
        "sometimes|manchmal|parfois|quelquefois|a veces|algunas veces|às vezes|algumas vezes",
        "often|frequently|regularly|oft|häufig|regelmäßig|souvent|fréquemment|régulièrement|"
        "a menudo|frecuentemente|muchas veces|frequentemente|muitas vezes",
        "usually|very often|most of the time|generally|meistens|sehr oft|très souvent|"
        "la plupart du temps|muy a menudo|generalmente|muito frequentemente",
        "almost always|nearly always|fast immer|presque toujours|casi siempre|quase sempre",
        "always|all the time|immer|stets|toujours|siempre|sempre",
    ),
    "quality": (
        "very poor|very bad|terrible|awful|sehr schlecht|très mauvais|très mauvaise|muy malo|"
        "muy mala|péssimo|péssima|muito mau|muito ruim",
        "poor|bad|schlecht|mauvais|mauvaise|malo|mala|mau|má|ruim",
        "fair|average|ok|okay|so-so|acceptable|mediocre|mittelmäßig|mittel|mittelmässig|"
        "teils gut teils schlecht|passable|moyen|moyenne|acceptable|regular|razoável",
        "good|gut|bon|bonne|bueno|buena|bom|boa",
        "very good|sehr gut|très bon|très bonne|muy bueno|muy buena|muito bom|muito boa",
        "premium",
        "excellent|outstanding|ideal|ausgezeichnet|hervorragend|exzellent|excellente|excelente",
    ),
    "school grades": (
        "ungenügend",
        "mangelhaft",
        "ausreichend",
        "befriedigend",
        "gut",
        "sehr gut",
    ),
    "letter grades": (*("f", "d-", "d", "d+", "c-", "c", "c+", "b-", "b", "b+", "a-", "a", "a+"),),
    "satisfaction": (
        "very dissatisfied|very unsatisfied|completely dissatisfied|extremely dissatisfied|"
        "sehr unzufrieden|très insatisfait|très insatisfaite|pas du tout satisfait|"
        "muy insatisfecho|muy insatisfecha|muito insatisfeito|muito insatisfeita",
        "dissatisfied|unsatisfied|unzufrieden|insatisfait|insatisfaite|pas satisfait|"
        "insatisfecho|insatisfecha|insatisfeito|insatisfeita",
        "somewhat dissatisfied|slightly dissatisfied|eher unzufrieden|plutôt insatisfait|"
        "plutôt insatisfaite|algo insatisfecho|um pouco insatisfeito",
        "neutral|neither satisfied nor dissatisfied|neither|teils teils|weder noch|neutre|"
        "ni satisfait ni insatisfait|ni satisfecho ni insatisfecho|neutro|"
        "nem satisfeito nem insatisfeito",
        "somewhat satisfied|slightly satisfied|eher zufrieden|plutôt satisfait|"
        "plutôt satisfaite|algo satisfecho|um pouco satisfeito",
        "satisfied|zufrieden|satisfait|satisfaite|satisfecho|satisfecha|satisfeito|satisfeita",
        "very satisfied|completely satisfied|extremely satisfied|sehr zufrieden|très satisfait|"
        "très satisfaite|tout à fait satisfait|muy satisfecho|muy satisfecha|muito satisfeito|"
        "muito satisfeita",
    ),
    "likelihood": (
        "very unlikely|extremely unlikely|definitely not|certainly not|sehr unwahrscheinlich|"
        "auf keinen fall|très improbable|certainement pas|muy improbable|muito improvável",
        "unlikely|probably not|unwahrscheinlich|wahrscheinlich nicht|eher nicht|improbable|"
        "probablement pas|poco probable|probablemente no|improvável|provavelmente não",
        "somewhat unlikely|eher unwahrscheinlich|plutôt improbable|algo improbable",
        "neutral|undecided|unsure|maybe|possibly|neither likely nor unlikely|vielleicht|"
        "möglicherweise|peut-être|tal vez|quizás|quizá|talvez|neutre|neutro",
        "somewhat likely|eher wahrscheinlich|plutôt probable|algo probable",
        "likely|probably|wahrscheinlich|probable|probablement|probablemente|provável|provavelmente",
        "very likely|extremely likely|definitely|certainly|sehr wahrscheinlich|auf jeden fall|"
        "très probable|certainement|muy probable|muito provável|com certeza",
    ),
    "importance": (
        "not at all important|very unimportant|überhaupt nicht wichtig|gar nicht wichtig|"
        "pas du tout important|pas du tout importante|nada importante",
        "unimportant|not important|not very important|unwichtig|nicht wichtig|pas important|"
        "pas importante|peu important|peu importante|poco importante|sin importancia|"
        "pouco importante|sem importância",
        "slightly important|somewhat important|weniger wichtig|eher unwichtig|algo importante|"
        "um pouco importante",
        "neutral|moderately important|mittel|teils teils|eher wichtig|moyennement important|"
        "plutôt important|medianamente importante|moderadamente importante|neutre|neutro",
        "important|fairly important|wichtig|importante",
        "very important|sehr wichtig|très important|très importante|muy importante|"
        "muito importante",
        "extremely important|essential|crucial|äußerst wichtig|ausserst wichtig|essentiel|"
        "extrêmement important|esencial|fundamental|essencial|extremamente importante",
    ),
    "degree": (
        "none|not at all|nothing|no|keine|gar nicht|überhaupt nicht|aucun|aucune|pas du tout|"
        "nada|ninguno|ninguna|nenhum|nenhuma",
        "very low|very little|sehr niedrig|sehr gering|sehr wenig|très faible|très bas|très peu|"
        "muy bajo|muy baja|muy poco|muito baixo|muito baixa|muito pouco",
        "low|l|mild|slight|slightly|a little|little|light|niedrig|gering|leicht|wenig|ein wenig|"
        "faible|bas|basse|léger|légère|un peu|peu|bajo|baja|leve|poco|un poco|baixo|baixa|pouco|"
        "um pouco|ligeiro",
        "medium|m|moderate|moderately|somewhat|some|intermediate|mittel|mäßig|mittelmäßig|etwas|"
        "moyen|moyenne|modéré|modérée|moyennement|medio|media|moderado|moderada|algo|médio|média",
        "high|h|severe|strong|heavy|marked|quite a bit|quite a lot|a lot|hoch|stark|schwer|viel|"
        "ziemlich|élevé|élevée|haut|fort|forte|sévère|beaucoup|alto|alta|grave|severo|severa|fuerte|mucho|"
        "bastante|elevado|elevada|severo|muito",
        "very high|very severe|very strong|very much|extreme|extremely|sehr hoch|sehr stark|"
        "sehr viel|très élevé|très élevée|très fort|très forte|muy alto|muy alta|muchísimo|"
        "muito alto|muito alta|extremo|extremamente|critical",
    ),
    "periods": (
        "never|not at all|nie|jamais|nunca",
        "yearly|once a year|annually|jährlich|une fois par an|anualmente",
        "less than monthly|a few times a year|several times a year",
        "monthly|once a month|monatlich|une fois par mois|mensualmente|mensalmente",
        "weekly|once a week|several days|wöchentlich|une fois par semaine|semanalmente",
        "more than half the days|several times a week|mehrmals pro woche",
        "daily|every day|nearly every day|täglich|jeden tag|tous les jours|quotidien|diariamente",
    ),
    "size": (
        "xxs",
        "xs|tiny|very small|winzig|sehr klein|minuscule|très petit|très petite|muy pequeño|"
        "muy pequeña|muito pequeno|muito pequena",
        "s|small|klein|petit|petite|pequeño|pequeña|chico|pequeno|pequena",
        "m|medium|middle|midsize|mid-size|mittel|mittelgroß|moyen|moyenne|mediano|mediana|medio|"
        "médio|média",
        "l|large|big|groß|gross|grand|grande",
        "xl|very large|huge|sehr groß|sehr gross|riesig|très grand|très grande|énorme|muy grande|"
        "enorme|muito grande",
        "xxl|gigantic|enormous",
        "xxxl",
    ),
    "ordinals": (
        "1st|first|erste|erster|premier|première|primero|primera|primeiro|primeira",
        "2nd|second|zweite|zweiter|deuxième|segundo|segunda",
        "3rd|third|dritte|dritter|troisième|tercero|tercera|terceiro|terceira",
        "4th|fourth|vierte|vierter|quatrième|cuarto|cuarta|quarto|quarta",
        "5th|fifth|fünfte|fünfter|cinquième|quinto|quinta",
    ),
    "schooling": (
        "no schooling|no education|illiterate|kein abschluss|sans diplôme|sin estudios|"
        "analfabeto|sem escolaridade",
        "primary|elementary|primary school|elementary school|grundschule|primaire|primaria|"
        "primária|ensino fundamental",
        "lower secondary|middle school|hauptschule",
        "secondary|high school|secondary school|realschule|secondaire|lycée|secundaria|"
        "bachillerato|secundária|ensino médio",
        "some college|vocational|abitur|ausbildung",
        "tertiary|college|university|bachelor|bachelors|bachelor's|undergraduate|"
        "bachelor's degree|universität|université|licence|universidad|universitaria|superior|"
        "ensino superior|graduação",
        "master|masters|master's|master's degree|graduate|postgraduate|maestría|mestrado",
        "doctorate|phd|ph.d.|doctoral|promotion|doctorat|doctorado|doutorado",
    ),
}
# What somebody says who does not answer; it has no place on a scale.
NO_ANSWERS = (
    "don't know|dont know|do not know|i don't know|dk|not sure|no answer|no response|no opinion|"
    "refused|refuse to answer|prefer not to say|prefer not to answer|not applicable|not stated|"
    "weiß nicht|weiß ich nicht|keine angabe|k.a|keine antwort|keine meinung|möchte nicht antworten|"
    "verweigert|ne sait pas|je ne sais pas|nsp|sans réponse|pas de réponse|sans opinion|refus|"
    "no sabe|no sé|no lo sé|ns/nc|no contesta|sin respuesta|no responde|não sei|não sabe|"
    "não respondeu|sem resposta|sem opinião|ns/nr"
)


@cache
def _places(scale: str) -> dict[str, int]:
    """For each answer of a scale its place, from 0."""
    steps = ANSWER_SCALES[scale]
    return {
        plain_words(word): step_number
        for step_number, step in enumerate(steps)
        for word in step.split("|")
    }


def _scale_of(answers: frozenset[str]) -> str | None:
    """The scale that has all these answers, each at a place of its own; None if there is none."""
    if len(answers) < MIN_ANSWERS:
        return None
    for scale in ANSWER_SCALES:
        places = _places(scale)
        # Letters alone are names of groups.
        if scale == "letter grades" and not any(one.endswith(("+", "-")) for one in answers):
            continue
        if answers <= places.keys() and len({places[one] for one in answers}) == len(answers):
            return scale
    return None


@cache
def _no_answers() -> frozenset[str]:
    return frozenset(plain_words(word) for word in NO_ANSWERS.split("|"))


def no_answers_among(words: Iterable[str]) -> tuple[str, ...]:
    """Words of a column that say "don't know", where the others are answers of a scale.

    >>> no_answers_among(["nie", "oft", "immer", "weiß nicht"])
    ('weiß nicht',)
    """
    plain = {word: plain_words(word) for word in words}
    words_of_none = tuple(word for word in plain if plain[word] in _no_answers())
    others = frozenset(plain.values()) - _no_answers()
    return words_of_none if words_of_none and _scale_of(others) is not None else ()


def ordered_answers(levels: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """The columns whose words are answers of a known scale, each with its levels from low to high.

    Columns of one scale have their levels in common, so that an answer is the same number in all.

    levels : the different words of each column
    """
    plain = {name: {plain_words(word): word for word in words} for name, words in levels.items()}
    scales = {name: _scale_of(frozenset(words)) for name, words in plain.items()}
    orders = {}
    for scale in dict.fromkeys(one for one in scales.values() if one is not None):
        places = _places(scale)
        members = [words for name, words in plain.items() if scales[name] == scale]
        union = {key: word for words in members for key, word in words.items()}
        common = len({places[key] for key in union}) == len(union)
        for name, own in plain.items():
            # Beside others, a column may have one or two of the answers.
            fits = scales[name] is None and common and 0 < len(own) < MIN_ANSWERS
            if scales[name] == scale or (fits and own.keys() <= union.keys()):
                answers = union if common else own
                orders[name] = tuple(
                    answers[key] for key in sorted(answers, key=places.__getitem__)
                )
    return orders
