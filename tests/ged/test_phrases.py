"""Wrong phrases against hand-written pairs."""

import re

import pytest
import spacy

from spacy_lal.ged.phrases import english_phrases, wrong_phrases

NLP = spacy.blank("en")
PAIRS = """
She has [went|gone] home.
They had never [saw|seen] it, and we have n't [wrote|written].
Have you ever [drove|driven] a bus?
He enjoys [to cook|cooking], but would you mind [to wait|waiting]?
I look forward to [meet|meeting] you.
He left without [listen|listening].
They are good at [teach|teaching], and he is responsible [of|for] it.
He is married [with|to] a nurse and afraid [from|of] mice.
It depends [of|on] the price.
She is interested [for|in] art and keen [in|on] opera, keen in mind.
We participate [to|in] races, but do not participate to the best of our strength.
[In|On] the other hand, I leave [in|on] Friday.
We have lived here [since|for] two years.
We met him since two years had passed.
We discussed [about|] it.
Explain [him|to him] the rules, but explain him away.
I listen [music|to music].
She gave [an|] advice about it; it is an information desk.
I [have seen|saw] it two weeks ago. I could have seen it last week.
I [have cooked|cooked] fish yesterday.
If she [will|?] come, we leave.
There is [much|many] people. How much people earn matters.
He is good [in|at] tennis and angry [on|with] us.
That is different [of|from] what we do, superior [than|to] it, according [with|to] him.
[By|On] the other hand and [in|at] the same time, they leave.
[At|In] my opinion they study [in|] abroad, despite [of|] the rain.
He went [to|] home and asked [to|] me.
He [is agree|agrees] with us, and he must [of gone|have gone].
I [am|] agree with you. He [said|told] me that she [has|?] six years old.
There [have|?] many cats. I [am|was] born here.
Everybody [are|is] here, and someone [want|wants] it.
I would like [meet|to meet] them.
[According to me|In my opinion] it is [an other|another] thing, so congratulate her [for|on] it.
They think about [to leave|leaving] without [to pay|paying].
This is [more better|better], the [most best|best].
I [am knowing|know] him, and she [is owning|owns] a shop.
It was [so|such a] nice day with [so|such] good people, and the view is [such|so] beautiful.
It is such [nice|a nice] place.
You like tea, [isn't it|?]?
He doesn't like tea, [doesn't he|?]?
You can swim, [don't you|?]?
They are here, [don't they|?]?
She likes tea, [isn't she|?]?
My brother [he|] likes football.
This is the book which I read [it|] last week.
The film that we saw [it|] was long.
[How|What] does your house look like? I know [how|what] she looks like.
[How|What] is the town like?
[How|What] do you call this?
He made me [to|] laugh and let us [to|] go.
He is one of my [friend|friends].
She has a six [years|year] old son, and it is a ten [minutes|minute] walk.
Although it was late, [but|] we stayed.
Because it was late, [so|] we left.
Yesterday I [go|went] to school.
Last week he [sees|saw] us.
We [visit|visited] the town last week.
If I [would|?] have time, I would come.
I have two [sister|sisters], and every [days|day] is the same.
We need [informations|information]. She [goed|went] home.
He is [tall|taller] than me, as tall [than|as] a tree, and [more nicer|nicer] than her.
She sings very [good|well]. It was [extreme|extremely] cold.
I know a girl [which|who] lives there and a house [who|which] is old.
He is [teacher|a teacher]. It was [very|a very] good film. It is [nice|a nice] place.
[Is|It Is] very cold today. I like it because [is|it is] quiet.
We play [the|] football, have [the|] lunch at two, and go to school by [the|] bus.
They speak [the|] English and live in [the|] Europe. He went to [the|] bed early.
[The|] most of the people left. I took my [brother|brother's] car.
I used to [swimming|?].
I know where [is|?] the station. I know what [does|?] he want.
I spend my time [to read|reading], and it is worth [to visit|visiting].
You must [to|] go. He suggested [me|?] to wait.
I have been here [for|since] 2015. He has lived there [from|for] two years.
I have not seen her [since|for] long time.
We met [at|in] the morning, and [in|at] the weekend, and [in|at] 5 o'clock.
It was cold [at|in] summer, and [in|at] midnight.
We arrived [to|at] the station. I saw it [in|on] TV. It is [in|on] the internet.
I waited [him|for him] and looked [him|at him] angrily.
He entered [in|] the room, resembles [to|] his father, and attended [to|] the meeting.
People [is|are] nice.
It was [so|such] a big dog. We saw [so|such] nice flowers.
It was [such|so] useful that we bought it.
My house [is belonging|belongs] to them. The students [are knowing|?] it.
The boys cancelled the match, [isn't it|?]?
It is one of the oldest [house|houses] in town. It was a two-[hours|hour] walk.
She is the [most happiest|happiest] girl. It tastes [badly|?].
We eat fish for [a|] lunch.
[Is|It Is] easy to find it.
This is [oldest|the oldest] house in town.
Bruno, who lives here, [he|] is a pilot.
The house which we painted [it|] is nice.
The man that she helped [him|] yesterday left.
If the boy [will|?] miss the bus, he will be late.
If it [will|?] rain, we stay.
If I [am|were] a king, I would be rich.
They saw that each [houses|house] has a garden.
She is [more steeper|steeper] than that, [more tall|taller] than me.
It is [durable|more durable] than that.
It is the [more|most] useful tool of all. These [lamp|lamps] are old.
How [much|many] lamps are there?
One of the [lamp|lamps] was broken.
It is not [her's|?], but ours.
We [have seen|saw] them in 1998. He [will visit|?] us last week.
Tomorrow he [visited|?] the town.
There is [alot|a lot] of it. [Infact|In fact] he [drinked|drank] milk.
I saw the [the|] dog.
He [do|does] n't know.
They were late because we [was|were] late.
It [depend|depends] on you.
I [thinks|think] it is late.
This is [more easy|easier] than that, the [most big|biggest] of all, and [more cheap|cheaper].
I know that [your|you 're] not here.
Use [you're|your] own car, and they use [they're|their] own house.
They live with [there|their] parents.
It has [it's|its] own garden.
I know that [its|it 's] not late.
He is better [then|than] me.
Do not [loose|lose] the key.
It is [quiet|quite] good. It is [to|too] expensive for me.
We want [too|to] go.
I am used to [work|working] here.
I look forward to [see|seeing] you.
He suggested [to go|going] home.
I wish I [have|had] a car.
The news [are|is] good.
[This|These] children are here.
Every [students|student] has a book.
[Another|Other] people came, and [others|other] people left.
He has a lot of [problem|problems].
They have [many|much] money.
We have [lot|a lot] of work.
There [is|are] many people.
There [are|is] much work.
[Almost|Most] people like it. Most [of|] people like it.
I swim [everyday|every day]. [Nowdays|Nowadays] we swim. [Now a days|Nowadays] he swims.
[May be|Maybe] he will come.
I know [some thing|something] about it, not [any thing|anything] new.
[Every thing|Everything] is late.
I [am|do] not agree with you.
You could come, [isn't it|could n't you]?
You can come, [isn't it|ca n't you]?
You will come, [isn't it|wo n't you]?
Where [you are|are you] going?
I know where [is he|he is].
Pay attention [on|to] it.
I prefer tea [than|to] coffee.
Why [u|you] laugh?
"""
RIGHT = """
She has gone home, and what she had comes from him.
We are kind of have to go.
He avoids tomatoes, and they enjoyed to the full what they had.
The practice to follow is this. It depends in part on you.
People say he wrote in Go, and they go for Go.
He has Went as a name. I look forward to work.
The key is knowing when to stop. It was so nice that we stayed. You think that it is late, isn't it?
The man he is today. My brother helped. The man who saw me left. I know that you love him.
How does it look? What is it like? They are two years old. He is a two year old boy.
One of my friends came.
It was late, but we stayed. Because it was late, we left.
On the evening of the match we met. We do all we can to help.
People who live there are nice. The number of people is high.
We came in a different way. I am a teacher. More power than this is needed.
One of the best was here.
Is it cold? What I think is true. I listened to the football match. He made it to the end.
Do you know where he is? Where is he? He had to go. He has been here since 2015. I used to sing.
She relies on us, and he was here a week ago.
"""


@pytest.mark.parametrize("text", PAIRS.strip().split("\n"))
def test_wrong_phrases(text):
    wrong = re.sub(r"\[(.*?)\|.*?\]", r"\1", text)
    doc = NLP(wrong)
    pairs = re.findall(r"\[(.*?)\|(.*?)\]", text)
    found = sorted(wrong_phrases(doc))
    # where words are missing, those before the phrase
    made = [
        (
            doc[p.start : p.end].text,
            f"{p.right} {doc[p.start]}" if p.type[0] == "M" and p.right else p.right,
        )
        for p in found
    ]
    assert made == [(old, None if new == "?" else new) for old, new in pairs]


@pytest.mark.parametrize("text", RIGHT.strip().split("\n"))
def test_right_sentences(text):
    assert list(wrong_phrases(NLP(text))) == []


def test_sentences_are_apart():
    doc = spacy.tokens.Doc(NLP.vocab, ["I", "have", "went", "on"], sent_starts=[1, 0, 1, 0])
    assert list(wrong_phrases(doc)) == []


def test_every_pattern_has_a_pair():
    text = re.sub(r"\[(.*?)\|.*?\]", r"\1", PAIRS)
    words = "\n".join(
        "".join(f"{token.lower_} " for token in NLP(line)) for line in text.strip().split("\n")
    )
    patterns = [pattern.regex for pattern in english_phrases().patterns]
    assert [pattern.pattern for pattern in patterns if not pattern.search(words)] == []
