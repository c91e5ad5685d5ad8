"""English: what learners take for what in closed classes and frequent confusions.

The lists are of errors that grammars for teachers describe (Swan and Smith 2001, "Learner English";
Swan 2016, "Practical English Usage"); weights are rough. Everything else comes from clean text.
"""

from __future__ import annotations

from collections.abc import Mapping

from .confusion import (
    FORM,
    PUNCTUATION,
    SPACING,
    SPELLING,
    TextCounts,
    calibrated,
    families_of,
    neighbour_insertions,
    spacing_errors,
)
from .error_model import ANY, CAPITAL, LOWER, NOISE, SWAP, ErrorKind, ErrorModel, Insertion

Table = dict[str, dict[str, float]]


def _table(text: str) -> Table:
    """Lines "phrase: other weight, …"; "-" is a phrase gone missing."""
    table: Table = {}
    for line in text.strip().splitlines():
        phrase, _, others = line.partition(": ")
        weights = table.setdefault(phrase.strip(), {})
        for other in others.split(","):
            words, _, weight = other.strip().rpartition(" ")
            weights[words.replace("COMMA", ",") if words != "-" else ""] = float(weight)
    return table


def _groups(text: str, weight: float = 1.0) -> Table:
    """Lines of words with ";" between, each taken for any other of its line."""
    table: Table = {}
    for line in text.strip().splitlines():
        group = [phrase.strip() for phrase in line.split(";")]
        for one in group:
            others = {two: weight / (len(group) - 1) for two in group if two != one}
            table.setdefault(one, {}).update(others)
    return table


MISSING_DETERMINERS = _table("""
the: - 1
a: - 1.6
an: - 1.6
my: - .3
his: - .2
her: - .2
our: - .3
their: - .3
your: - .3
this: - .1
some: - .2
any: - .2
""")

WRONG_DETERMINERS = _table("""
the: a 1, this .1, their .1, an .2
a: the 1, an .5, one .3, some .1
an: a 1.5, the .8, one .2
this: these 1, the .5, that .6
these: this 1.5, those .4, the .4
that: this .1
those: these .6, that .5, this .4
my: the .2, mine .1
his: her .2, the .2, their .1
her: his .3, the .2, she .1
their: there .3, his .2, the .3, its .2
our: the .2, we .1
its: it 's .8, their .3, his .2, the .2, it .2
some: any .6, a .4
any: some .8, no .2
another: other .6, an other .3
other: another .5, others .5
others: other .8, another .2
every: all .3, each .3
each: every .6
all: every .2, all of .2, the all .1
both: the both .2, all .1
no: not .3, any .3
many: much 1, a lot .2, lots .1
much: many 1, a lot .2, very .2
few: little .5, less .2
a few: few .6, a little .4
little: few .4, small .2
a little: little .3, a few .3
less: fewer .3, little .3, more few .1
fewer: less 1
a lot of: a lot 1, lot of .6, many .4, much .3, lots .2
enough: too .1
""")

MISSING_PREPOSITIONS = _table("""
to: - 1
of: - .5
in: - .5
for: - .7
on: - .6
at: - .8
about: - .8
with: - .4
from: - .3
by: - .2
as: - .3
than: - .2
""")

WRONG_PREPOSITIONS = _table("""
in: on 1, at .9, of .4, to .2, for .2, into .2, during .1, with .1
on: in 1.5, at .6, of .3, about .3, for .2, over .1, to .2
at: in 1.8, on .7, to .4, for .2, of .2
to: for .8, in .5, at .3, of .2, on .1, with .1, into .1
for: to 1, of .5, about .3, in .3, during .2, since .2, with .1, from .1
of: for .4, in .4, from .3, about .2, to .2, on .1, by .1
with: by .4, of .3, to .3, for .2, from .1, in .2, about .1
by: with .6, from .5, for .2, of .2, in .2, on .2
from: of .6, by .3, in .2, to .2, for .2, at .1, since .2
about: of .8, for .5, on .4, with .2, in .1, to .1
into: in 1.5, to .6, on .2
onto: on 1, to .3
during: in .6, while 1, at .3, for .3
since: from .8, for .8, because .2
until: to .5, by .5
between: among .5, from .2, in .2
among: between 1, in .3
through: by .4, in .3, trough .6, across .2
over: on .5, above .3, of .1
under: below .3, in .3, on .3
without: with no .3, out of .2
before: ago .2, in front of .2, after .1
after: later .3, behind .1, before .1
as: like .8, how .3, such as .1
like: as 1, such as .3
than: then 1.5, that .7, as .4
towards: to .6, for .2
against: with .4, to .3
because of: because 2, for .5, due .3
instead of: instead 1, in spite of .5
according to: according 1, depending to .3
such as: as .7, like .5
due to: due .6, because .3
in front of: in front 1, before .5
out of: out .8, from .2
depend on: depend of 1.5, depend 1, depend from .6
depends on: depends of 1.5, depends 1, depends from .6
interested in: interested on 1, interested for .6, interesting in 1, interested about .5
good at: good in 1.5
listen to: listen 1.5
listening to: listening 1.5
wait for: wait 1.2
waiting for: waiting 1.2
look at: look 1, see .3
looking at: looking 1
look for: look 1, search .4
looking for: looking 1
think about: think 1, think of .5, think on .4
married to: married with 2
different from: different than .5, different of .6, different to .4
responsible for: responsible of 1.5
full of: full with 1
afraid of: afraid from 1, afraid to .3
consists of: consists in .8, consists 1
arrived in: arrived to 2, arrived at .5, arrived .5
arrived at: arrived to 2, arrived in .6
arrive at: arrive to 2, arrive in .5
pay for: pay 1
paid for: paid 1
ask for: ask 1
asked for: asked 1
spend: spend in .2
reason for: reason of 1, reason to .4
""")

INSERTED_PREPOSITIONS = ("to", "of", "in", "for", "on", "at", "with", "about", "from", "by", "as")
INSERTED_DETERMINERS = ("the", "a", "an", "my", "our", "their", "his", "some")
INSERTED_OTHERS = (
    "it",
    "that",
    "is",
    "are",
    "be",
    "was",
    "have",
    "do",
    "so",
    "very",
    "and",
    "also",
)

VERBS = _table("""
is: are 1.2, was .5, be .4, has .4, - .8, 's been .1, being .1
are: is 1.5, were .4, be .4, was .2, - .8, have .2
was: were .9, is .8, has .3, had .4, has been .3, - .6
were: was 1.3, are .6, had .2, be .2, - .5
am: 'm .1, is .4, was .4, - 1, are .3
be: is .6, being .6, been .8, - .9, are .3, to be .3
been: being .6, be .8, - .4, gone .1
being: be .8, been .6, - .3
has: have 1.5, had .8, is .4, - .4
have: has .8, had .8, having .5, - .5, be .2, of .1
had: have 1.2, has .6, was .3, - .5, would .1
having: have 1, had .2
do: does .8, make .5, did .5, - .3, doing .3, are .2
does: do 1.5, is .4, did .3, - .3
did: do .8, does .3, have .2, made .2, was .2, - .2
done: did 1, do .5, made .8
doing: making .5, do .6, to do .3
will: would .8, - .4, can .2, shall .1, going to .1, is .1
would: will 1.2, could .3, should .3, - .4, had .1
can: could 1, may .2, will .2, - .3, can be able to .1
could: can 1.2, would .5, may .2, might .1, - .2
should: must .5, would .4, shall .2, have to .2, - .2
may: can .5, might .3, maybe .4, could .2, - .2
might: may .5, can .2, could .2
must: have to .3, should .3, must to .8, can .1
should be: should .6, should to be .5
can be: can .6, can to be .3
to be: be 1, being .6, to been .2
has been: was .6, have been .8, is .6, had been .4, has be .3
have been: has been .6, had been .5, were .5, are .4, have be .4, was .2
going to: going 1.2
used to: use to 1.5, used .5
would like: will like .6, like .6, would like to .1
there is: there are 1.5, it is .6, is .4, there have .3
there are: there is 2, are .4, they are .6, there have .3
it is: is 1, it .6, it 's .1
there was: there were .8, it was .5, was .4
n't: not .2, not to .1
did n't: do n't .6, not .3, did not .1
does n't: do n't 2, is n't .3
not: no .4, - .2, n't .1
""")

PRONOUNS = _table("""
it: - .7, he .1, that .1, they .1, this .2, them .2
I: - .5, me .2, my .1
you: - .3, your .2, we .1
he: - .3, she .2, him .1, it .1
she: - .3, he .4, her .2
we: - .3, us .2, you .1
they: - .3, he .1, them .3, it .2, there .2
me: - .3, I .4, my .4
him: - .3, he .3, his .2, her .1
us: - .4, we .3, our .2
them: - .3, they .3, it .3, their .3, themselves .1
who: which .8, that .4, whose .2, whom .2, - .5
which: that .5, what .8, who .4, - .3, it .2
what: which .5, that .5, how .2
that: which .3, what .4, - 1, who .2, it .1
whose: which .6, who .6, who 's .8
where: which .4, when .2, were .3, that .2
myself: me .6, my self .6, - .3
themselves: theirselves .5, them .6, themself .4
himself: him .6, hisself .3, - .2
there: it .3, their .5, they .2, - .4
something: anything .6, some thing .3
anything: something 1, nothing .3
everything: all .6, every thing .5
everyone: everybody .1, every one .5, all .3
nothing: anything .6
""")

CONJUNCTIONS = _table("""
and: - 1, or .3, COMMA .3, but .1
or: and .8, and or .1
but: and .5, however .2, but COMMA .1, - .2
because: because of .5, as .1, for .2, that .2, - .2, cause .3
so: so that .2, and .2, - .3, that .1
if: when .5, whether .2, that .1, - .3
when: if .4, while .2, where .2, that .1, - .2
while: when .4, during .5, as .1
although: despite .6, though .1, even .2, but .3
despite: although .8, despite of 1.5, in spite .4
however: but .5
whether: if .3, weather 1, that .3
how: what .5, as .2, how to .1
how to: how 1
so that: so .3, that .4
even though: even .8, though .2, even if .3
""")

HOMOPHONES = _groups(
    """
there; their; they 're
too; to
your; you 're
than; then
whether; weather
loose; lose
affect; effect
advice; advise
practice; practise
quite; quiet
where; were
through; though; thought
accept; except
desert; dessert
principal; principle
piece; peace
brake; break
price; prize
hole; whole
know; now
no; know
by; buy
hear; here
of; off
who 's; whose
it 's; its
passed; past
led; lead
choose; chose
life; live
lives; lifes
cloths; clothes
thing; think
things; thinks
feel; fell
felt; fell
weak; week
than; that
bored; boring
tired; tiring
excited; exciting
interested; interesting
surprised; surprising
confused; confusing
economic; economical
historic; historical
everyday; every day
maybe; may be
sometimes; some times
already; all ready
cannot; can not
into; in to
alone; lonely
sense; sens
form; from
stuff; staff
cause; course
advantage; advantages
safe; save
belief; believe
""",
    1.0,
)

WORD_CHOICE = _groups("""
make; do
makes; does
made; did
making; doing
say; tell; speak
says; tells
said; told
speak; talk
look; see; watch
looking; seeing; watching
saw; watched
hear; listen
learn; study; teach
learned; studied; taught
know; meet
known; met
bring; take; carry
brought; took
come; go
came; went
coming; going
borrow; lend
rise; raise
rose; raised
win; earn; gain
won; earned
job; work
travel; trip; journey
big; large; great
small; little
high; tall
long; large
strong; hard; heavy
wrong; false; bad
fun; funny
nice; beautiful
possibility; opportunity; chance
reason; cause
problem; trouble
country; state; land
home; house
people; person; persons; peoples
number; amount
effect; result; influence
increase; grow; rise
decrease; reduce
become; get
became; got
allow; let
find; discover
found; founded
need; must
use; apply
give; offer
receive; take; get
receive; accept
keep; stay; remain
very; much; too
very; so
also; too
still; yet; already
just; only
ago; before
last; past
next; following
especially; specially
nearly; near
hardly; hard
well; good
late; lately
most; mostly; almost
more; most
then; after
finally; at last; at the end
other; different
main; principal
actual; current
actually; currently
sensible; sensitive
quick; fast
percent; percentage
worker; employee
area; place; zone
case; situation
""")

UNCOUNTABLE = """
advice behaviour behavior equipment evidence furniture homework housework information knowledge
luggage music news research software traffic work luck progress accommodation feedback money
health education violence vocabulary transport weather
"""

IRREGULAR = """
go goes went gone going
see sees saw seen seeing
take takes took taken taking
give gives gave given giving
get gets got getting gotten
come comes came coming
make makes made making
know knows knew known knowing
think thinks thought thinking
say says said saying
tell tells told telling
find finds found finding
leave leaves left leaving
feel feels felt feeling
keep keeps kept keeping
hold holds held holding
bring brings brought bringing
buy buys bought buying
teach teaches taught teaching
catch catches caught catching
write writes wrote written writing
speak speaks spoke spoken speaking
break breaks broke broken breaking
choose chooses chose chosen choosing
drive drives drove driven driving
rise rises rose risen rising
eat eats ate eaten eating
fall falls fell fallen falling
grow grows grew grown growing
show shows showed shown showing
draw draws drew drawn drawing
throw throws threw thrown throwing
fly flies flew flown flying
begin begins began begun beginning
swim swims swam swimming
sing sings sang sung singing
drink drinks drank drunk drinking
run runs ran running
become becomes became becoming
win wins won winning
meet meets met meeting
lead leads led leading
read reads reading
lose loses lost losing
pay pays paid paying payed
send sends sent sending
spend spends spent spending
build builds built building
sell sells sold selling
stand stands stood standing
understand understands understood understanding
sit sits sat sitting
sleep sleeps slept sleeping
mean means meant meaning
hear hears heard hearing
fight fights fought fighting
wear wears wore worn wearing
forget forgets forgot forgotten forgetting
hide hides hid hidden hiding
let lets letting
put puts putting
cut cuts cutting
set sets setting
man men
woman women
child children childs childrens
foot feet
tooth teeth
person people persons
life lives
wife wives
half halves
good better best well
bad worse worst badly
far further farther
"""

LETTERS = _table("""
ie: ei 4
ei: ie 4
a: e 1, o .3
e: a 1, i 1
i: e 1.2, y .3
o: a .3, u .3
u: o .3, a .2
y: i .5
ll: l 3
ss: s 3
mm: m 4
nn: n 3
tt: t 3
pp: p 3
cc: c 4
rr: r 3
ff: f 3
dd: d 2
gg: g 2
ee: e 1, ea 1
ea: e 1.5, ee 1
ou: o 1, u .7
oo: o 1
ai: a 1, ei 1
au: o 1, a 1
gh: g .7, h .5
ght: th .7, gth 1.5
wh: w 2
ph: f 2
ch: sh .6, c .4
sc: s 2
qu: q .5, cu .5
tion: sion 1, cion .6
sion: tion 1
ance: ence 2.5
ence: ance 2.5
able: ible 1.5
ible: able 2.5
ant: ent 1.2
ent: ant 1
ful: full 3
ly: lly .6, y .5
ely: ly 2
ally: aly 2
ied: yed 1
ies: ys 1, yes .5
ied: yed 1, ed .7
s: c .3, z .2
c: s .5, k .3
k: c .4
z: s .5
v: b .1
t: d .2
d: t .2
""")

MORE = _table("""
better: more better 1, more good .6
worse: more worse .8, more bad .6
easier: more easier .6, more easy .8
bigger: more big .8, more bigger .4
cheaper: more cheap .8
faster: more fast .8, more faster .4
higher: more high .8, more higher .4
lower: more low .6
best: most best .4, better .5
enjoy: enjoy to .2
agree: am agree .6
""")

PUNCTUATION_TABLE = _table("""
,: - 1.2, . .15, ; .04
;: COMMA .4, . .2
:: COMMA .3, - .2
-: - .8
's: - 1, s .2
': - .8
": - .01
""")

COMMA_BEFORE = {
    **{word: 0.3 for word in ("that", "because", "who", "which", "if", "when", "than")},
    **{word: 0.1 for word in ("and", "or", "to", "is", "are", "for", "with", "in", "of", "as")},
    ANY: 0.005,
}

ENGLISH_SHARES: Mapping[str, float] = {
    "missing determiner": 6.0,
    "wrong determiner": 3.0,
    "unnecessary determiner": 3.0,
    "missing preposition": 3.0,
    "wrong preposition": 7.5,
    "unnecessary preposition": 2.5,
    "verb": 9.0,
    FORM: 19.0,
    "pronoun": 3.5,
    "conjunction": 2.0,
    "word choice": 6.0,
    "homophone": 3.0,
    "unnecessary word": 2.0,
    PUNCTUATION: 9.0,
    SPACING: 1.5,
    **{how: 13.0 * weight / sum(SPELLING.values()) for how, weight in SPELLING.items()},
    LOWER: 1.2,
    CAPITAL: 0.6,
    SWAP: 2.0,
}
"""Of errors of each kind, in percent: about what is published of corrected learners' essays."""


def english_model(counts: TextCounts) -> ErrorModel:
    """Errors of English, from clean text and the lists here, with kinds as `ENGLISH_SHARES` says.

    Raises ValueError if the text has no words.
    """
    if not counts.counts:
        raise ValueError("no words in the text to learn errors from")
    closed = (
        frozenset(
            word
            for table in (MISSING_DETERMINERS, WRONG_DETERMINERS, VERBS, PRONOUNS, CONJUNCTIONS)
            for word in table
        )
        | frozenset(INSERTED_PREPOSITIONS)
        | frozenset(WRONG_PREPOSITIONS)
    )
    inserted = neighbour_insertions(
        counts.sample, {*INSERTED_PREPOSITIONS, *INSERTED_DETERMINERS, *INSERTED_OTHERS}
    )

    def insertions(words: tuple[str, ...]) -> dict[str, Insertion]:
        return {word: inserted[word] for word in words if word in inserted}

    forms = _with(families_of(counts, closed), _irregular())
    forms = _with(forms, {word: {word + "s": 1.5} for word in UNCOUNTABLE.split()})
    spacing = {
        phrase: others
        for phrase, others in spacing_errors(counts).items()
        if " " in phrase or phrase not in closed
    }
    kinds = {
        "missing determiner": ErrorKind(1.0, MISSING_DETERMINERS),
        "wrong determiner": ErrorKind(1.0, WRONG_DETERMINERS),
        "unnecessary determiner": ErrorKind(1.0, {}, insertions(INSERTED_DETERMINERS)),
        "missing preposition": ErrorKind(1.0, MISSING_PREPOSITIONS),
        "wrong preposition": ErrorKind(1.0, WRONG_PREPOSITIONS),
        "unnecessary preposition": ErrorKind(1.0, {}, insertions(INSERTED_PREPOSITIONS)),
        "verb": ErrorKind(1.0, VERBS),
        FORM: ErrorKind(1.0, _with(forms, MORE)),
        "pronoun": ErrorKind(1.0, PRONOUNS),
        "conjunction": ErrorKind(1.0, CONJUNCTIONS),
        "word choice": ErrorKind(1.0, WORD_CHOICE),
        "homophone": ErrorKind(1.0, HOMOPHONES),
        "unnecessary word": ErrorKind(1.0, {}, insertions(INSERTED_OTHERS)),
        PUNCTUATION: ErrorKind(
            1.0, PUNCTUATION_TABLE, {",": Insertion({ANY: 1.0, "": 0.0}, COMMA_BEFORE)}
        ),
        SPACING: ErrorKind(1.0, spacing),
    }
    model = ErrorModel(
        "en",
        kinds,
        noise=dict.fromkeys(NOISE, 1.0),
        words=counts.well_known(),
        closed=closed,
        letters=LETTERS,
    )
    return calibrated(model, counts.sample, ENGLISH_SHARES)


def _irregular() -> Table:
    """Forms of a line of `IRREGULAR` for each other."""
    lines = IRREGULAR.strip().splitlines()
    return _groups("\n".join(";".join(line.split()) for line in lines), 2.0)


def _with(one: Mapping[str, Mapping[str, float]], two: Mapping[str, Mapping[str, float]]) -> Table:
    """Both tables in one; where both have a weight, the second's counts."""
    both: Table = {word: dict(others) for word, others in one.items()}
    for word, others in two.items():
        both.setdefault(word, {}).update(others)
    return both
